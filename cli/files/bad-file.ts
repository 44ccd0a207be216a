import type { Problem } from './problem.ts'

/** A file, or a part of one, that cannot be sent, and why. `id` is the agent that it would be, as far as that is known. */
export type BadFile = { file: string; id?: string; problems: Problem[] }

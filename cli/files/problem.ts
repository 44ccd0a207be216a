import type { Pointer } from '../../src/json/json.ts'

/** A place in a file, counted from 1. */
export type Position = { line: number; column: number }

/** What is wrong with a file, and where. `pointer` is into the document of the file. */
export type Problem = Position & { file: string; pointer: Pointer; message: string }

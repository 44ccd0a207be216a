import type { AgentCard } from './agent-card.ts'

/** Media types that go in and come out. */
export type Modes = { input: string[]; output: string[] }

/** The modes of a card: its defaults; those of any skill besides; and by skill id (an own member) those that it has of its own. */
export type CallModes = { defaults: Modes; union: Modes; skills: Record<string, Partial<Modes>> }

/** The modes of a card. */
export const collectModes = ({
  defaultInputModes: input,
  defaultOutputModes: output,
  skills,
}: AgentCard): CallModes => ({
  defaults: { input, output },
  union: {
    input: [...new Set([...input, ...skills.flatMap(skill => skill.inputModes ?? [])])],
    output: [...new Set([...output, ...skills.flatMap(skill => skill.outputModes ?? [])])],
  },
  skills: Object.fromEntries(
    skills.map(({ id, inputModes, outputModes }) => [
      id,
      { ...(inputModes?.length && { input: inputModes }), ...(outputModes?.length && { output: outputModes }) },
    ]),
  ),
})

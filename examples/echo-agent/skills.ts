import type { TaskState } from '@a2a-js/sdk'

/** What tells of one task as it goes on. */
export type Progress = {
  status: (state: keyof typeof TaskState, text?: string) => void
  /** Says a piece of the answer; `last` where no other follows. */
  say: (piece: string, last: boolean) => void
  /** Lets time pass; throws where the task is cancelled meanwhile. */
  wait: (milliseconds: number) => Promise<void>
}

/** Does something with a text. */
type Skill = (text: string, progress: Progress) => Promise<void> | void

/** Says the text. */
export const echo: Skill = (text, { status, say }) => {
  say(text, true)
  status('TASK_STATE_COMPLETED')
}

/** The most words that are said one by one; what follows them is said at once. */
const mostWords = 100

/** What the agent does with the rest of a message, by its first word. */
export const skills: Readonly<Record<string, Skill>> = {
  stream: async (text, { status, say, wait }) => {
    status('TASK_STATE_WORKING')
    const words = text.split(/\s+/)
    const pieces = [...words.slice(0, mostWords - 1), words.slice(mostWords - 1).join(' ')].filter(Boolean)
    for (const [index, piece] of pieces.entries()) {
      await wait(200)
      say(index === 0 ? piece : ` ${piece}`, index === pieces.length - 1)
    }
    status('TASK_STATE_COMPLETED')
  },
  ask: (_, { status }) => status('TASK_STATE_INPUT_REQUIRED', 'What shall I say?'),
  slow: async (text, progress) => {
    progress.status('TASK_STATE_WORKING', 'This takes half a minute.')
    await progress.wait(30_000)
    echo(text, progress)
  },
  backwards: (text, progress) => echo([...text].reverse().join(''), progress),
}

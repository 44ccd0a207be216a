import type { Json } from '../../json/index.ts'

/** A message that an agent understands: text, or JSON data. */
export type MessageExample = { skillId?: string | undefined; text?: string; data?: Json }

/** A skill that a message can name, and the data of an example for it. */
export type SkillChoice = { id: string; name: string; data?: Json }

/** Returns what the message field has of an example. */
export const exampleText = ({ text = '', data }: MessageExample): string =>
  data === undefined ? text : JSON.stringify(data, null, 2)

/** Returns the lines that the message field shows of a text. */
export const visibleRows = (text: string): number => Math.min(Math.max(text.split('\n').length, 3), 10)

/** Where the response will be: it keeps the space. */
export const ResponsePlace = () => <p class="console-empty muted">The response appears here.</p>

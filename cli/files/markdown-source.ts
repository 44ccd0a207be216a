import type { Parsed } from './source.ts'
import { parseYamlSource } from './yaml-source.ts'

const missing = 'has no front matter: a card goes between two lines of --- at the top'
const unclosed = 'has front matter that does not end: its closing line of --- is missing'

/** All up to the closing fence. Spaces after a fence are seen by nobody, and so mean nothing. */
const frontMatter = /^(---[ \t]*(?:\r\n?|\n)(?:[\s\S]*?(?:\r\n?|\n))??)---[ \t]*(?:[\r\n]|$)/

/** Reads the YAML front matter of a Markdown file. The body is the agent's prompt, and is read by nobody here. */
export const parseMarkdownSource = (text: string): Parsed => {
  // With its opening fence, so that its lines count as those of the file.
  const [, head] = frontMatter.exec(text) ?? []
  if (head !== undefined) return parseYamlSource(head)
  return { faults: [{ line: 1, column: 1, message: /^---[ \t]*[\r\n]/.test(text) ? unclosed : missing }] }
}

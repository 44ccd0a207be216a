import { VFile } from 'vfile'
import { matter } from 'vfile-matter'
import type { Parsed } from './source.ts'
import { parseYamlSource } from './yaml-source.ts'

const missing = 'has no front matter: a card goes between two lines of --- at the top'
const unclosed = 'has front matter that does not end: its closing line of --- is missing'

/** Nobody sees it, and vfile-matter takes such a line for no fence. */
const spaceAfterFence = /(?<=^---)[ \t]+(?=\r?$)/gm

/** Reads the YAML front matter of a Markdown file. The body is the agent's prompt, and is read by nobody here. */
export const parseMarkdownSource = (text: string): Parsed => {
  const fault = (message: string): Parsed => ({ faults: [{ line: 1, column: 1, message }] })
  try {
    const fenced = text.replace(spaceAfterFence, '')
    const head = fenced.slice(0, fenced.length - bodyOf(fenced).length)
    if (head === '') return fault(/^---\r?\n/.test(fenced) ? unclosed : missing)
    // With its opening fence, so that its lines count as those of the file.
    return parseYamlSource(head.replace(/---(?:\r?\n|\r)?$/, ''))
  } catch (error) {
    return fault(error instanceof Error ? error.message : String(error))
  }
}

const bodyOf = (text: string): string => {
  const file = new VFile(text)
  // Silent: what is wrong with the YAML is left for the parser that knows the places.
  matter(file, { strip: true, yaml: { logLevel: 'silent' } })
  return String(file)
}

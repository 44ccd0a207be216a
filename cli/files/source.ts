import type { Json, Pointer } from '../../src/json/json.ts'
import { parseJsonSource } from './json-source.ts'
import { parseMarkdownSource } from './markdown-source.ts'
import type { Position, Problem } from './problem.ts'
import { parseYamlSource } from './yaml-source.ts'

/** A text that was read: its document, and where each part of it stands. */
export type Document = { value: Json; find: (place: Pointer) => Position | undefined }

/** What is wrong with a text. */
export type Fault = Position & { message: string }

/** What came of a text. */
export type Parsed = Document | { faults: Fault[] }

/** A file that was read. */
export type Source = Document & { file: string; markdown: boolean }

const parsers: Record<string, (text: string) => Parsed> = {
  '.json': parseJsonSource,
  '.yaml': parseYamlSource,
  '.yml': parseYamlSource,
  '.md': parseMarkdownSource,
  '.markdown': parseMarkdownSource,
}

/** The endings of the files that a folder is searched for. */
export const cardExtensions = Object.keys(parsers)

/** Reads the text of a file by its ending; an ending that says nothing is read as YAML, of which JSON is a part. */
export const parseSource = (file: string, text: string): Source | { problems: Problem[] } => {
  const ending = /\.[^./\\]+$/.exec(file)?.[0].toLowerCase() ?? ''
  const parse = parsers[ending] ?? parseYamlSource
  const parsed = parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  if ('faults' in parsed) return { problems: parsed.faults.map(fault => ({ file, pointer: '', ...fault })) }
  return { file, markdown: parse === parseMarkdownSource, ...parsed }
}

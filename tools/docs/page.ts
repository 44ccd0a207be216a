import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** The folder of the project. */
export const root = join(import.meta.dirname, '../..')

/** Returns the text of a file of the project. */
export const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** A page of docs/reference. */
export type Page = {
  /** The name of its file, without `.md`. */
  name: string
  title: string
  /** What the index says of it. */
  contents: string
  /** What follows the title: paragraphs, headings and tables. */
  parts: readonly string[]
}

/** Returns the text of a page. */
export const writePage = ({ title, parts }: Omit<Page, 'name' | 'contents'>): string =>
  [`# ${title}`, '<!-- Written by `npm run docs`: edit the code, not this file. -->', ...parts].join('\n\n').trim() +
  '\n'

/** Returns a table. The texts of its cells are Markdown. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head.map(name => ` ${name} `), head.map(() => '---'), ...rows.map(row => row.map(toCell))]
    .map(cells => `|${cells.join('|')}|`)
    .join('\n')

const toCell = (text: string): string => (text === '' ? ' ' : ` ${text.replaceAll('|', '\\|')} `)

/** Returns a text as code. */
export const code = (text: string | number): string => `\`${text}\``

/** Breaks a paragraph into lines of at most 120 columns, but no code and no link. */
export const wrap = (text: string): string =>
  linkPages(text)
    .replace(/`[^`]*`|\[[^\]]*\]/g, part => part.replaceAll(' ', '\u00a0'))
    .replace(/([^\n]{1,120})(?: |$)/g, '$1\n')
    .replaceAll('\u00a0', ' ')
    .trim()

/**
 * Makes links of the pages that a text names by their paths, such as docs/guide/teams.md#scopes, for a page of
 * docs/reference. The text of a link is the heading or the name of the page, unless the text is Markdown that has one.
 */
export const linkPages = (text: string): string =>
  text.replace(
    /(\[[^\]]*\]\()?\b(docs\/(?:[\w-]+\/)*([\w-]+)\.md(?:#([\w-]+))?)(\))?/g,
    (_, opening, path, page, anchor = page, closing = '') => {
      const target = posix.relative('docs/reference', path)
      return opening ? `${opening}${target}${closing}` : `[${anchor.replaceAll('-', ' ')}](${target})${closing}`
    },
  )

/** Returns the anchor that GitHub makes of a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')

/**
 * Returns the doc comment of a row, which ends where the row begins. `row` is an expression for its beginning. Fails if
 * there is none: the reference would have no text.
 */
export const readComment = (file: string, name: string, row: string): string => {
  const [, comment] = new RegExp(String.raw`/\*\*((?:(?!\*/)[^])*)\*/\s*${row}`).exec(read(file)) ?? []
  if (comment === undefined)
    throw new Error(`${file}: ${name} needs a doc comment right before it, which docs/reference repeats`)
  return linkPages(
    comment
      .replace(/^\s*\* ?/gm, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  )
}

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { doubled, growthWhenDoubled } from '../support/cpu-time.ts'
import { hostilePieces, repeatTo } from '../support/hostile.ts'

const root = join(import.meta.dirname, '../..')

/** A regular expression in TypeScript, after what can precede one but no division. */
const literal =
  /(?<=(?:[=(,:!&|?{};\n[]|=>|\breturn)\s*)\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/([dimsuvgy]*)/g
const comment = /^\s*(?:\/\/|\/?\*).*$/gm

const toPattern = (source: string, flags: string): RegExp[] => {
  try {
    return [new RegExp(source, flags)]
  } catch {
    // A part of a template that looks like a regular expression.
    return []
  }
}

/** Every regular expression with a repetition, by its text. */
const patterns = new Map(
  globSync('{src,cli}/**/*.ts', { cwd: root, exclude: ['**/*.d.ts'] })
    .flatMap(path => [...readFileSync(join(root, path), 'utf8').replace(comment, '').matchAll(literal)])
    .flatMap(([, source = '', flags = '']) => toPattern(source, flags))
    .filter(({ source }) => /[*+]|,\}/.test(source))
    .map(pattern => [String(pattern), pattern]),
)

/** What most expressions require before a repetition. */
const beginnings = ['', 'https://a.example/', 'a']

/** The characters that an expression names: a run of these is what its repetitions match. */
const ownPieces = (source: string): string[] =>
  [...new Set(source.replace(/\\[a-zA-Z]/g, ''))].filter(character => !'()[]{}^$|?*+.'.includes(character))

describe('regular expressions', () => {
  it('are found in the sources', () => {
    expect(patterns.size).toBeGreaterThan(60)
  })

  it('take time linear in the length of text that nearly matches', async () => {
    const slow: string[] = []
    for (const [text, pattern] of patterns)
      for (const piece of new Set([...hostilePieces, ...ownPieces(pattern.source)]))
        for (const beginning of beginnings) {
          const match = (size: number) => `${beginning}${repeatTo(piece, size)}\u0000`.replace(pattern, '')
          if ((await growthWhenDoubled(4096, 5, match)) > doubled) slow.push(`${text} for ${JSON.stringify(piece)}`)
        }
    expect(slow).toStrictEqual([])
  })
})

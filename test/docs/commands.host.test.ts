import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BLOCK, EXCEPTIONS, isPrinted, parseSteps } from './page.ts'
import { type Reader, startReader } from './reader.ts'

const texts = Object.fromEntries(
  ['README.md', ...globSync('docs/guide/*.md')].map(file => [basename(file), readFileSync(file, 'utf8')]),
)
const pages = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, parseSteps(text)]))

let reader: Reader
beforeAll(async () => {
  reader = await startReader(pages)
})
afterAll(() => reader.close())

describe.concurrent('every command of a page runs, and prints what the page shows', () => {
  it.each(Object.entries(pages))('%s', async (name, steps) => {
    const { printed, failed } = await reader.read(name)
    const differing = steps.flatMap(step => {
      if (!('commands' in step) || !step.output || isPrinted(step.output, printed(step.line))) return []
      const { line, text } = step.output
      return [{ line, shown: text, printed: printed(step.line) }]
    })
    expect({ failed, differing }).toEqual({ failed: '', differing: [] })
  })
})

it.each(Object.entries(EXCEPTIONS))('no command is run that %s, and there are some', (_, pattern) => {
  const blocks = Object.values(texts).flatMap(text => [...text.matchAll(BLOCK)])
  const lines = blocks.flatMap(([, , language, text = '']) =>
    language === 'sh' ? text.split('\n').map(line => `${line.trim()} `) : [],
  )
  expect(lines.filter(line => pattern.test(line))).not.toEqual([])
})

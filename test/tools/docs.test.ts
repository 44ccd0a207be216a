import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findStaleFiles } from '../../tools/docs.ts'

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../..', file), 'utf8')

it('npm run docs has written every file that repeats texts of the code', () => {
  expect(findStaleFiles()).toEqual([])
})

it('npm run docs writes a variable with its default and description', () => {
  const description = 'Seconds in which an agent must respond to a call.'
  expect(read('wrangler.toml')).toContain(`\n# ${description}\nUPSTREAM_TIMEOUT = "60"\n`)
  expect(read('docs/reference.md')).toContain(`\n| \`UPSTREAM_TIMEOUT\` | \`60\` | ${description} |\n`)
  expect(JSON.parse(read('package.json')).cloudflare.bindings.UPSTREAM_TIMEOUT).toEqual({ description })
  expect(read('.dev.vars.example')).toContain('\n# The first token, which allows everything. ')
})

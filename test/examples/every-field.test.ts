import { readFileSync } from 'node:fs'
import { AgentCard } from '@a2a-js/sdk'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createEchoCard } from '../../examples/echo-agent/app.ts'
import { compileDocument } from '../../src/card/compile/index.ts'
import { manifestDescriptions } from '../../src/card/manifest/json-schema.ts'
import { isJsonObject, type Json, type JsonObject } from '../../src/json/json.ts'

const text = readFileSync('examples/cards/every-field.yaml', 'utf8')
const manifest: JsonObject = parse(text)

/** Fields that exclude others, or that need what `npm start` does not have, stand in comments. */
const commented = /^( *)# ((?:mcp|secret|agentName|session|defaultTool|partner): .*)$/gm
const variants: JsonObject[] = [...text.matchAll(commented)].map(([line, indent = '', field = '']) =>
  // The second rule for the tier is instead of the first.
  parse(text.replace(line, indent + field).replace(/^( *partner: .*)\n *partner: .*$/m, '$1')),
)

/** Whether a document has a member at a path; `*` is any member. */
const has = (value: Json | undefined, [name, ...rest]: readonly string[]): boolean => {
  if (name === undefined) return value !== undefined
  if (!isJsonObject(value)) return false
  return (name === '*' ? Object.values(value) : [value[name]]).some(member => has(member, rest))
}

describe('examples/cards/every-field.yaml', () => {
  it('has every field of the schema', () => {
    expect(variants).toHaveLength(6)
    const fields = Object.keys(manifestDescriptions).filter(path => path !== '$schema')
    const missing = fields.filter(path => ![manifest, ...variants].some(document => has(document, path.split('.'))))
    expect(missing).toEqual([])
    expect(text).toMatch(/^# yaml-language-server: \$schema=/)
  })

  it('compiles with the card of the agent that npm start runs, without lint errors and warnings', () => {
    const fetched = AgentCard.toJSON(createEchoCard()) as JsonObject
    const result = compileDocument(manifest, { id: 'every-field', requestOrigin: 'http://127.0.0.1:8787', fetched })
    expect('errors' in result ? result.errors : []).toEqual([])
    const issues = 'compiled' in result ? result.compiled.report.issues : []
    expect(issues.filter(({ severity }) => severity !== 'info')).toEqual([])
  })
})

import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { findCardFiles, loadManifests, readFile } from '../../../cli/manifests/index.ts'
import { createManifestSchema, manifestDescriptions } from '../../../src/card/manifest/json-schema.ts'
import { readManifest } from '../../../src/card/manifest/manifest.ts'
import { listNames } from '../../../src/card/read/field-names.ts'
import { isJsonObject, type Json, type JsonObject, jsonEntries, omit } from '../../../src/json/json.ts'

const schema = createManifestSchema()
// As strict as it can be: it also requires types, and that required members are described.
const validate = new Ajv({ strict: true }).compile(schema)
const isRead = (document: Json): boolean => !('errors' in readManifest(document))

const card = { name: 'A', description: 'Answers questions', url: 'https://a.example.com/a2a' }

/** A manifest with every field. */
const complete: JsonObject = {
  $schema: './manifest.json',
  id: 'a',
  card,
  extended: { skills: [] },
  tiers: { partner: { name: 'B' } },
  visibility: 'internal',
  hosts: ['a.example.com', '*'],
  route: 'gateway',
  upstream: {
    url: 'https://b.example.com/a2a',
    card: 'https://b.example.com/card.json',
    service: 'AGENT',
    secret: 'AGENT_TOKEN',
    identity: 'header',
    agentName: 'B',
    ttl: 60,
    staleIfError: 0,
    pin: false,
    keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x', kid: 'k' }, 'did:web:b.example.com'],
    verify: 'warn',
    mayShow: ['b.example.com'],
  },
  gate: { capabilities: 'off', modes: 'warn', extensions: 'off', version: 'off', responses: 'off', tasks: 'owner' },
  jwt: { audience: ['https://a.example.com'], scope: 'read', tiers: { partner: { claim: 'group', equals: 1 } } },
  set: 'mine',
  allowSecrets: ['/card/description'],
  signatures: 'resign',
}
const withMcp: JsonObject = {
  upstream: { mcp: 'https://b.example.com/mcp', service: 'A', ttl: 30, session: 'shared', defaultTool: 'search' },
}
const withScope: JsonObject = {
  card,
  tiers: { partner: {} },
  jwt: { audience: 'a', tiers: { partner: { scope: 'x' } } },
}

/** Values of every type, some of which are valid somewhere. */
const others: Json[] = [
  ...[null, true, 0, 30, -1, 1.5, 1e9, '', ' ', 'a', 'A b', 'off', 'header', 'ADMIN_TOKEN', 'base', '/a', 'x\ny'],
  ...['a.example.com', 'https://a.example.com/', 'https://u:p@a.example.com/', 'HTTP://a.example.com', 'ftp://a.org'],
  ...[[], [''], ['a'], [1], ['https://a'], Array.from({ length: 40 }, (_, index) => `h${index}`)],
  ...[{}, { a: 1 }, { a: {} }, { base: {} }, { partner: {} }, { scope: 'a' }, { scope: 'a b' }, { claim: 'a' }],
  ...[{ claim: 'a', equals: null }, { exposed: 1 }],
]

/** Returns copies of a value in which one part is replaced, removed or added. */
const mutate = (value: Json): Json[] => [
  ...others,
  ...(Array.isArray(value) || isJsonObject(value)
    ? jsonEntries(value).flatMap(([name, part]) => mutate(part).map(other => replaceMember(value, name, other)))
    : []),
  ...(isJsonObject(value) ? [{ ...value, unknownField: 1 }, ...Object.keys(value).map(name => omit(value, name))] : []),
]

const replaceMember = (value: Json[] | JsonObject, name: string, other: Json): Json =>
  Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other }

/** What only code can check: a tier that a rule names must exist, and two URLs must have one origin. */
const isBeyondJsonSchema = (document: Json): boolean => {
  const result = readManifest(document)
  const isBeyond = /is not a tier of this manifest|is not on the origin of/
  return 'errors' in result && result.errors.every(({ message }) => isBeyond.test(message))
}

describe('createManifestSchema', () => {
  it('gives the same verdict as the reader on each document and on each of its mutations', () => {
    const remote = { upstream: { card: 'https://b.example.com/card.json' } }
    for (const document of [complete, withMcp, withScope, card, remote, { name: 'A' }]) {
      expect(validate(document)).toBe(true)
      const mutations = mutate(document).filter(mutation => !isBeyondJsonSchema(mutation))
      expect(mutations.filter(mutation => validate(mutation) !== isRead(mutation))).toEqual([])
      // Both verdicts occur.
      expect(new Set(mutations.map(isRead))).toEqual(new Set([true, false]))
    }
  })

  it('rejects an upstream whose members do not fit together, as the reader does', () => {
    const [url, mcp, remote] = ['https://b.example.com', 'https://b.example.com/mcp', 'https://b.example.com/card.json']
    for (const upstream of [
      { card: remote, mcp },
      { identity: 'header', mcp },
      { url, ttl: 60 },
      { url, session: 'shared' },
      { mcp, url, defaultTool: 'search' },
      { url, pin: true },
      { mcp, keys: 'first-use' },
      { card: remote, verify: 'require' },
      { card: remote, keys: { kty: 'OKP', crv: 'Ed25519', x: 'x', d: 'd' } },
    ])
      expect([upstream, validate({ card, upstream }), isRead({ card, upstream })]).toEqual([upstream, false, false])
  })

  const files = findCardFiles(['examples/cards', 'cards']).filter(file => !file.endsWith('agents.json'))
  it('accepts the examples as they are written, and as they are sent; editors find it, as npm start serves it', () => {
    expect(files.length).toBeGreaterThan(5)
    for (const file of files) {
      const source = readFile(file, '.')
      expect('value' in source && validate(source.value), file).toBe(true)
      const { drafts } = loadManifests([file], 'https://cards.example.com')
      for (const { manifest } of drafts) expect([file, validate(manifest), validate.errors]).toEqual([file, true, null])
      const [line] = readFileSync(file, 'utf8').split('\n')
      if (file.endsWith('.yaml'))
        expect(line, file).toBe('# yaml-language-server: $schema=http://127.0.0.1:8787/schema/manifest.json')
    }
  })

  it('describes every field of a manifest, and nothing else', () => {
    const described = new Set<string>()
    const visit = (part: Json | undefined, path: string): void => {
      if (!isJsonObject(part)) return
      const inner = (name: string) => (path === '' ? name : `${path}.${name}`)
      for (const [name, property] of jsonEntries(isJsonObject(part.properties) ? part.properties : {})) {
        if (isJsonObject(property))
          expect([inner(name), property.description]).toEqual([inner(name), expect.any(String)])
        described.add(inner(name))
        visit(property, inner(name))
      }
      visit(part.additionalProperties, inner('*'))
      // RFC 7517 describes the members of keys.
      if (path === 'upstream.keys') return
      for (const choice of Array.isArray(part.anyOf) ? part.anyOf : []) visit(choice, path)
    }
    visit(schema.then, '')
    expect([...described].sort()).toEqual(Object.keys(manifestDescriptions).sort())
  })

  it('describes every field of a card that A2A and GopherHole define', () => {
    const paths = (part: Json | undefined): string[] => {
      const [found] = isJsonObject(part) && Array.isArray(part.anyOf) ? part.anyOf : []
      if (!isJsonObject(found)) return []
      if (isJsonObject(found.items)) return paths(found.items).map(path => `*.${path}`)
      return jsonEntries(isJsonObject(found.properties) ? found.properties : {}).flatMap(([name, inner]) => {
        expect([name, isJsonObject(inner) && inner.description]).toEqual([name, expect.any(String)])
        return [name, ...paths(inner).map(path => `${name}.${path}`)]
      })
    }
    const kinds = {
      '': 'card',
      'capabilities.': 'capabilities',
      'provider.': 'provider',
      'skills.*.': 'skill',
    } as const
    const expected = Object.entries(kinds).flatMap(([prefix, kind]) => listNames(kind).map(name => prefix + name))
    const { card: definition } = isJsonObject(schema.definitions) ? schema.definitions : {}
    const listed = paths(definition).filter(path => !path.includes('Interfaces.*'))
    expect(listed.sort()).toEqual(expected.sort())
  })
})

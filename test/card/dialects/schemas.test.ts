import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  parsePointer,
} from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { registration } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'
import { compilePublishedSchema, corpus, hasReference, skipNotice } from '../../support/cards/reference.ts'
import { readSeedManifest, seedNames } from '../../support/cards/seeds.ts'
import { schemaErrors } from '../../support/schemas/index.ts'

type Version = {
  /** A card with every member that the version knows. */
  card: JsonObject
  /** The required members of each object, by its pointer. */
  required: Record<string, string>
  /** Arrays with at least one item. */
  nonEmpty: string[]
  /** Objects with members of the author's choice. */
  open: string[]
  /** Values outside an enumeration, and objects with two members of which only one is allowed. */
  values: [pointer: string, value: Json][]
}

const flow = { tokenUrl: 'https://id.example/token', scopes: { read: 'Read' } }

/** Adds to a complete card what it has no place for, as the version allows one flow of a scheme only. */
const complete = (version: '1.0' | '0.3', schemes: JsonObject): JsonObject => {
  const card = completeCards[version] as JsonObject
  return { ...card, securitySchemes: { ...(card.securitySchemes as JsonObject), ...schemes } }
}

const oauth = '/oauth2SecurityScheme'
const versions: Record<'1.0' | '0.3', Version> = {
  '1.0': {
    card: complete('1.0', {
      implicit: {
        oauth2SecurityScheme: {
          flows: { implicit: { authorizationUrl: 'https://id.example/authorize', scopes: flow.scopes } },
        },
      },
      password: { oauth2SecurityScheme: { flows: { password: flow } } },
    }),
    required: {
      '': 'name description version defaultInputModes defaultOutputModes supportedInterfaces capabilities skills',
      '/provider': 'organization url',
      '/signatures/0': 'protected signature',
      '/supportedInterfaces/0': 'url protocolBinding protocolVersion',
      '/securitySchemes/key': 'apiKeySecurityScheme',
      '/securitySchemes/key/apiKeySecurityScheme': 'name location',
      '/securitySchemes/bearer': 'httpAuthSecurityScheme',
      '/securitySchemes/bearer/httpAuthSecurityScheme': 'scheme',
      ...Object.fromEntries(
        Object.entries({
          oauth: ['authorizationCode', 'authorizationUrl tokenUrl scopes'],
          client: ['clientCredentials', 'tokenUrl scopes'],
          device: ['deviceCode', 'tokenUrl scopes deviceAuthorizationUrl'],
          implicit: ['implicit', ''],
          password: ['password', ''],
        }).flatMap(([name, [flow = '', required = '']]) => [
          [`/securitySchemes/${name}`, 'oauth2SecurityScheme'],
          [`/securitySchemes/${name}${oauth}`, 'flows'],
          [`/securitySchemes/${name}${oauth}/flows`, flow],
          [`/securitySchemes/${name}${oauth}/flows/${flow}`, required],
        ]),
      ),
      '/securitySchemes/oidc': 'openIdConnectSecurityScheme',
      '/securitySchemes/oidc/openIdConnectSecurityScheme': 'openIdConnectUrl',
      '/securitySchemes/tls': 'mtlsSecurityScheme',
      '/skills/0': 'id name description tags',
    },
    nonEmpty: ['/defaultInputModes', '/defaultOutputModes', '/supportedInterfaces', '/skills', '/skills/0/tags'],
    open: ['/signatures/0/header', '/capabilities/extensions/0/params'],
    values: [
      ['/securitySchemes/key/apiKeySecurityScheme/location', 'body'],
      ['/securitySchemes/tls', { mtlsSecurityScheme: {}, httpAuthSecurityScheme: { scheme: 'bearer' } }],
      [`/securitySchemes/client${oauth}/flows`, { clientCredentials: flow, password: flow }],
    ],
  },
  '0.3': {
    card: complete('0.3', { client: { type: 'oauth2', flows: { clientCredentials: flow } } }),
    required: {
      '': 'name description version defaultInputModes defaultOutputModes url protocolVersion capabilities skills',
      '/provider': 'organization url',
      '/signatures/0': 'protected signature',
      '/additionalInterfaces/0': 'url transport',
      '/capabilities/extensions/0': 'uri',
      '/securitySchemes/key': 'type name in',
      '/securitySchemes/bearer': 'type scheme',
      ...Object.fromEntries(
        ['oauth', 'implicit', 'password', 'client'].map(name => [`/securitySchemes/${name}`, 'type flows']),
      ),
      '/securitySchemes/oauth/flows/authorizationCode': 'authorizationUrl tokenUrl scopes',
      '/securitySchemes/client/flows/clientCredentials': 'tokenUrl scopes',
      '/securitySchemes/implicit/flows/implicit': 'authorizationUrl scopes',
      '/securitySchemes/password/flows/password': 'tokenUrl scopes',
      '/securitySchemes/oidc': 'type openIdConnectUrl',
      '/securitySchemes/tls': 'type',
      '/skills/0': 'id name description tags',
    },
    nonEmpty: [],
    open: ['/signatures/0/header', '/capabilities/extensions/0/params'],
    values: [
      ['/securitySchemes/key/in', 'body'],
      ...['key', 'bearer', 'oauth', 'oidc', 'tls'].map((name): [string, Json] => [
        `/securitySchemes/${name}/type`,
        'hmac',
      ]),
    ],
  },
}

/** Returns the card with the value at `at` replaced, or removed if `value` is undefined. */
const changeValue = (card: JsonObject, at: string, value: Json | undefined): JsonObject => {
  const copy: JsonObject = JSON.parse(JSON.stringify(card))
  const path = parsePointer(at)
  const last = path.pop() ?? ''
  const parent = path.reduce<JsonObject>((node, token) => node[token] as JsonObject, copy)
  if (value === undefined) delete parent[last]
  else parent[last] = value
  return copy
}

/** Lists every value of a document with its pointer, without those inside the objects at `open`. */
const valuesIn = (value: Json, open: string[], at = ''): [pointer: string, value: Json][] => {
  const members = open.includes(at) || typeof value !== 'object' || value === null ? [] : jsonEntries(value)
  return [[at, value], ...members.flatMap(([key, member]) => valuesIn(member, open, at + formatPointer(key)))]
}

/** Returns a value of a type that no member allows in place of this one. */
const changeType = (value: Json): Json => (typeof value === 'string' ? 1 : Array.isArray(value) ? { a: 'b' } : 'text')

type Change = 'as it is' | 'removed' | 'of another type' | 'empty' | 'with an unknown member' | 'another value'
type Mutation = { at: string; change: Change; card: Json }

/** Returns the card of a version, and copies of it with one change each. */
const mutate = ({ card, open, values: others }: Version): Mutation[] => {
  const values = valuesIn(card, open)
  const objects = values.filter(([, value]) => isJsonObject(value))
  const arrays = values.filter(([, value]) => Array.isArray(value))
  const nodes = values.filter(([at]) => at !== '')
  const members = nodes.filter(([at]) => !/\/\d+$/.test(at))
  const changed = (change: Change, at: string, value: Json | undefined, place = at): Mutation => ({
    at,
    change,
    card: changeValue(card, place, value),
  })
  return [
    { at: '', change: 'as it is', card },
    { at: '', change: 'of another type', card: [] },
    ...members.map(([at]) => changed('removed', at, undefined)),
    ...nodes.map(([at, value]) => changed('of another type', at, changeType(value))),
    ...arrays.map(([at]) => changed('empty', at, [])),
    ...objects.map(([at]) => changed('with an unknown member', at, { a: ['b'] }, `${at}/unknown`)),
    ...others.map(([at, value]) => changed('another value', at, value)),
  ]
}

describe.each(['1.0', '0.3'] as const)('the schema of the Agent Card of A2A %s', name => {
  const version = versions[name]
  const mutations = mutate(version)
  const pointers = (change: Change, list = mutations) =>
    list.flatMap(mutation => (mutation.change === change ? [mutation.at] : [])).sort()
  const isRejected = ({ card }: Mutation) => schemaErrors(`${name} strict`, card).length > 0
  const rejected = (change: Change) => pointers(change, mutations.filter(isRejected))

  it('accepts a card with every member of the specification', () => {
    expect(schemaErrors(`${name} strict`, version.card)).toStrictEqual([])
  })

  it('rejects a card without a required member, and accepts one without any other', () => {
    const required = Object.entries(version.required).flatMap(([at, names]) =>
      names.split(' ').flatMap(member => (member === '' ? [] : [`${at}/${member}`])),
    )
    expect(rejected('removed')).toStrictEqual(required.sort())
  })

  it('rejects every member and every item of another type', () => {
    expect(rejected('of another type')).toStrictEqual(pointers('of another type'))
  })

  it('rejects an empty array where the specification requires an item, and accepts any other', () => {
    expect(rejected('empty')).toStrictEqual(version.nonEmpty.toSorted())
  })

  it('rejects an unknown member of every object whose members the specification names', () => {
    const closed = pointers('with an unknown member').filter(at => !version.open.includes(at))
    expect(rejected('with an unknown member')).toStrictEqual(closed)
  })

  it('rejects a value that is not in an enumeration, and two alternatives at once', () => {
    expect(rejected('another value')).toStrictEqual(version.values.map(([at]) => at).sort())
  })

  it('accepts an API key in each place', () => {
    const [[at] = ['']] = version.values
    for (const place of ['query', 'header', 'cookie'])
      expect(schemaErrors(`${name} strict`, changeValue(version.card, at, place))).toStrictEqual([])
  })

  it('accepts an unknown member, and nothing else that it rejects, where it is not strict', () => {
    const isAccepted = ({ card }: Mutation) => schemaErrors(name, card).length === 0
    const differing = mutations.filter(mutation => isRejected(mutation) && isAccepted(mutation))
    expect(differing).toStrictEqual(differing.filter(({ change }) => change === 'with an unknown member'))
    expect(pointers('with an unknown member', differing)).toStrictEqual(expect.arrayContaining(['', '/provider']))
  })

  describe.skipIf(!hasReference)(`agrees with the published schema${skipNotice}`, () => {
    const validate = hasReference ? compilePublishedSchema(name) : () => false

    it('on every changed card, except for a location that only the prose of the specification excludes', () => {
      const differing = mutations.filter(mutation => validate(mutation.card) === isRejected(mutation))
      expect(differing.map(({ at, change }) => [at, change])).toStrictEqual(
        name === '1.0' ? [['/securitySchemes/key/apiKeySecurityScheme/location', 'another value']] : [],
      )
    })

    it('on every representation of every card of the seeds and the corpus', () => {
      const found = corpus
        .map(({ text }) => parseJson(text))
        .flatMap(parsed => ('value' in parsed ? [parsed.value] : []))
      const documents = [...seedNames.map(readSeedManifest), ...found].flatMap(manifest => {
        const result = compile(manifest, registration)
        return 'errors' in result ? [] : Object.values(result.compiled.documents)
      })
      expect(documents.length).toBeGreaterThan(8 * 40)
      expect(
        documents.filter(document => validate(document) !== (schemaErrors(`${name} strict`, document).length === 0)),
      ).toStrictEqual([])
    })
  })
})

import { describe, expect, it } from 'vitest'
import { type DialectName, representationNames } from '../../../src/card/model/constants.ts'
import { isJsonObject, type JsonObject } from '../../../src/json/json.ts'
import { shortCard } from '../../support/cards/cards.ts'
import { compileCard } from '../../support/cards/compile.ts'

const flow = { tokenUrl: 'https://i.example/t', scopes: {} }
const flows = { clientCredentials: flow, password: flow }
const v0 = { o: { type: 'oauth2', flows }, p: { type: 'oauth2', flows }, k: { type: 'mutualTLS' } }
const v1 = {
  o: { oauth2SecurityScheme: { flows } },
  p: { oauth2SecurityScheme: { flows } },
  k: { mtlsSecurityScheme: {} },
}

/** Fields that make the dialect of a card certain. */
const marks: Record<Exclude<DialectName, '1.0'>, JsonObject> = {
  '0.3': { protocolVersion: '0.3.0', skills: [{ id: 'a', name: 'A' }] },
  gopherhole: {},
  superx: { protocol: 'a2a' },
  shaman: { supportUrl: 'https://help.example' },
  telex: { supportedProtocols: ['a2a-v1'] },
}

/** Returns a card of a dialect that requires several schemes at once. */
const makeCard = (dialect: DialectName, schemes: string[]): JsonObject => {
  if (dialect !== '1.0') {
    const security = [Object.fromEntries(schemes.map(name => [name, []]))]
    return { ...shortCard, ...marks[dialect], securitySchemes: v0, security }
  }
  const { url, ...card } = shortCard
  return {
    ...card,
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    securitySchemes: v1,
    securityRequirements: [{ schemes: Object.fromEntries(schemes.map(name => [name, { list: [] }])) }],
  }
}

/**
 * Returns the combinations of credentials that a document accepts, each as the names of its schemes, or of OAuth flows.
 */
const acceptedBy = (document: JsonObject): string[] => {
  const schemes = document.securitySchemes as Record<string, JsonObject>
  const waysOf = (name: string): string[] => {
    const { flows } = (schemes[name]?.oauth2SecurityScheme ?? schemes[name] ?? {}) as JsonObject
    if (isJsonObject(flows)) return Object.keys(flows)
    return [name in schemes ? name : 'undefined']
  }
  const list = (document.security ?? document.securityRequirements) as JsonObject[]
  return list
    .map(requirement => Object.keys((requirement.schemes ?? requirement) as JsonObject))
    .flatMap(names =>
      names.reduce<string[]>((all, name) => all.flatMap(one => waysOf(name).map(way => `${one}${way} `)), ['']),
    )
    .map(combination => combination.trim())
}

const allDialects = ['1.0', ...(Object.keys(marks) as DialectName[])] as const

describe('an OAuth scheme with two flows, which A2A 1.0 does not have', () => {
  it('keeps both beside another scheme, in every representation of a card of each dialect', () => {
    for (const dialect of allDialects) {
      const { documents, report } = compileCard(makeCard(dialect, ['o', 'k']))
      expect(report.dialect).toBe(dialect)
      for (const name of representationNames)
        expect([name, acceptedBy(documents[name])]).toEqual([name, ['clientCredentials k', 'password k']])
    }
  })

  it('keeps one beside a scheme of the same kind, with a note', () => {
    const all = ['clientCredentials clientCredentials', 'clientCredentials password', 'password clientCredentials']
    const message =
      'read with its first OAuth flow only, as this requirement has another scheme with several, or more than 10 schemes'
    for (const dialect of allDialects) {
      const { documents, report } = compileCard(makeCard(dialect, ['o', 'p']))
      for (const name of representationNames) {
        const isAuthored = name === dialect && !['1.0', '0.3'].includes(dialect)
        const expected = isAuthored ? [...all, 'password password'] : [all[0], all[2]]
        expect([dialect, name, acceptedBy(documents[name])]).toEqual([dialect, name, expected])
      }
      const pointer = dialect === '1.0' ? '/securityRequirements/0/schemes/p' : '/security/0/p'
      expect(report.converted.at(-1)).toEqual({ pointer, message })
    }
  })

  it('does not multiply a requirement of many schemes', () => {
    const more = (count: number) => Array.from({ length: count }, (_, index) => [`m${index}`, { type: 'mutualTLS' }])
    const read = (count: number) => {
      const schemes = { o: v0.o, ...Object.fromEntries(more(count)) }
      const security = [Object.fromEntries(Object.keys(schemes).map(name => [name, []]))]
      const { documents, report } = compileCard({ ...shortCard, ...marks['0.3'], securitySchemes: schemes, security })
      return [(documents['1.0'].securityRequirements as unknown[]).length, report.converted.at(-1)?.pointer]
    }
    expect([read(9), read(10)]).toEqual([
      [2, '/securitySchemes/o/flows'],
      [1, '/security/0/o'],
    ])
  })
})

import { describe, expect, it } from 'vitest'
import { changeRules } from '../../../src/card/diff/change-rules.ts'
import { classifyChanges } from '../../../src/card/diff/client-changes.ts'
import type { AgentCard } from '../../../src/card/model/agent-card.ts'
import type { JsonObject } from '../../../src/json/json.ts'
import { compileCard } from '../../support/cards/compile.ts'
import { doubled, growthWhenDoubled } from '../../support/cpu-time.ts'

const url = 'https://a.example/a2a'
const skill = { id: 'forecast', name: 'Forecast', description: 'Forecasts', tags: ['t'] }
const flow = { tokenUrl: 'https://id.example/token', scopes: { read: 'Reads', write: 'Writes' } }
const base = {
  name: 'A',
  description: 'B',
  version: '1.0.0',
  supportedInterfaces: [
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'https://a.example/rest', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: true, pushNotifications: false, extensions: [{ uri: 'https://e.example/1', params: {} }] },
  securitySchemes: {
    key: { apiKeySecurityScheme: { name: 'X-Key', location: 'header' } },
    oauth: { oauth2SecurityScheme: { flows: { clientCredentials: flow } } },
  },
  securityRequirements: [{ schemes: { key: { list: [] } } }, { schemes: { oauth: { list: ['read'] } } }],
  defaultInputModes: ['text/plain', 'image/*'],
  defaultOutputModes: ['text/plain'],
  skills: [skill, { ...skill, id: 'history', inputModes: ['text/plain', 'image/png'] }],
}

const card = (fields: object = {}) => compileCard({ ...base, ...fields } as JsonObject).card
const offer = (fields: object = {}) => ({ card: card(fields) })
const listChanges = (after: object, before: object = {}) => {
  const { class: name, changes } = classifyChanges(offer(before), offer(after))
  return [name, ...changes.map(({ rule, pointer, message }) => `${rule} ${pointer} ${message}`)]
}
const withExtensions = (...extensions: object[]) => ({ capabilities: { ...base.capabilities, extensions } })
const withOauth = (oauth: object) => ({
  securitySchemes: { ...base.securitySchemes, oauth: { oauth2SecurityScheme: { flows: oauth } } },
})
const [rpc, rest] = base.supportedInterfaces as unknown as [JsonObject, JsonObject]
const [forecast, history] = base.skills

/** What changes, the class of the change with each change that is found, and what was before. */
type Case = [after: object, changes: string[], before?: object]
const schemes = (more: object) => ({ securitySchemes: { ...base.securitySchemes, ...more } })
const apiKey = (more: object) =>
  schemes({ key: { apiKeySecurityScheme: { name: 'X-Key', location: 'header', ...more } } })
const http = (scheme: string) => schemes({ key: { httpAuthSecurityScheme: { scheme } } })
const interfaces = (...supportedInterfaces: object[]) => ({ supportedInterfaces })
const required = (...securityRequirements: unknown[]) => ({ securityRequirements })
const oauth = (...list: string[]) => ({ schemes: { oauth: { list } } })
const codeFlow = { ...flow, authorizationUrl: 'https://id.example/' }
const [one, two] = [{ uri: 'https://e.example/1', params: {} }, { uri: 'https://e.example/2' }]

const to = (after: object, before: object = {}): [after: object, before: object] => [after, before]

const listCases = (changes: Record<string, ReturnType<typeof to>>): Case[] =>
  Object.entries(changes).map(([text, [after, before]]) => [after, splitClass(text), before])

/** Splits `breaking skill-removed …` after the class. */
const splitClass = (text: string): string[] => text.split(/ (.*)/s).slice(0, 2)

/** By the class and the only change that is found: what is changed, and what was before. */
const singleChanges: Record<string, ReturnType<typeof to>> = {
  'breaking skill-removed /skills/0 skill `forecast` is removed': to({ skills: [history] }),
  'additive skill-added /skills/2 skill `now` is new': to({ skills: [...base.skills, { ...skill, id: 'now' }] }),
  'breaking mode-removed /skills/1/inputModes skill `history` no longer accepts `image/png`': to({
    skills: [forecast, { ...history, inputModes: ['text/plain'] }],
  }),
  // A narrower range, and a wider one.
  'breaking mode-removed /defaultInputModes the agent no longer accepts `image/*`': to({
    defaultInputModes: ['text/plain', 'image/png'],
  }),
  'additive mode-added /defaultOutputModes the agent now also produces `text/*`': to({
    defaultOutputModes: ['text/*'],
  }),
  // A skill gets modes of its own, or repeats those of the card.
  'breaking mode-removed /skills/0/inputModes skill `forecast` no longer accepts `image/*`': to({
    skills: [{ ...skill, inputModes: ['text/plain'] }, history],
  }),
  'cosmetic details-changed /skills/0/inputModes skill `forecast` now has `inputModes`': to({
    skills: [{ ...skill, inputModes: base.defaultInputModes }, history],
  }),
  'breaking mode-removed /defaultInputModes the agent no longer accepts `a/0`, `a/1`, `a/2`, `a/3`, `a/4`, `a/5`, `a/6`, `a/7`, `a/8`, `a/9` and 2 more':
    to(
      { defaultInputModes: ['text/plain'] },
      { defaultInputModes: ['text/plain', ...Array.from({ length: 12 }, (_, index) => `a/${index}`)] },
    ),
  // A media type that was listed as not acceptable.
  'cosmetic details-changed /defaultInputModes the agent changes its `defaultInputModes`': to(
    {},
    { defaultInputModes: [...base.defaultInputModes, 'audio/wav;q=0'] },
  ),
  'breaking extension-required /capabilities/extensions/0 the agent now requires the extension `https://e.example/1`':
    to(withExtensions({ ...one, required: true })),
  'additive extension-optional /capabilities/extensions/0 the agent no longer requires the extension `https://e.example/1`':
    to({}, withExtensions({ ...one, required: true })),
  'breaking extension-changed /capabilities/extensions/0 the extension `https://e.example/1` has other parameters': to(
    withExtensions({ ...one, params: { depth: 2 } }),
  ),
  'additive extension-added /capabilities/extensions/1 the agent now also supports the extension `https://e.example/2`':
    to(withExtensions(one, two)),
  'breaking interface-removed /supportedInterfaces/1 the agent no longer offers `HTTP+JSON` (A2A `1.0`) at `https://a.example/rest`':
    to(interfaces(rpc)),
  'additive interface-added /supportedInterfaces/2 the agent now also offers `JSONRPC` (A2A `0.3`) at `https://a.example/a2a`':
    to(interfaces(rpc, rest, { ...rpc, protocolVersion: '0.3' })),
  'breaking interface-moved /supportedInterfaces/0 the agent moves `JSONRPC` (A2A `1.0`) from `https://a.example/a2a` to `https://b.example/`':
    to(interfaces({ ...rpc, url: 'https://b.example/' }, rest)),
  'breaking interface-moved /supportedInterfaces/0 the agent moves `JSONRPC` (A2A `1.0`) from `https://a.example/a2a` to `https://a.example/a2a` for tenant `acme`':
    to(interfaces({ ...rpc, tenant: 'acme' }, rest)),
  'breaking protocol-changed /supportedInterfaces/0 the agent speaks `GRPC` (A2A `1.0`) instead of `JSONRPC` (A2A `1.0`) at `https://a.example/a2a`':
    to(interfaces({ ...rpc, protocolBinding: 'GRPC' }, rest)),
  'cosmetic details-changed /supportedInterfaces the agent lists its `supportedInterfaces` in another order': to(
    interfaces(rest, rpc),
  ),
  'additive scheme-added /securitySchemes/mtls the security scheme `mtls` is new': to(
    schemes({ mtls: { mtlsSecurityScheme: {} } }),
  ),
  'breaking scheme-changed /securitySchemes/key the security scheme `key` is `httpAuthSecurityScheme` instead of `apiKeySecurityScheme`':
    to(http('bearer')),
  'breaking scheme-changed /securitySchemes/key the security scheme `key` changes its `name` from `X-Key` to `X-Other`':
    to(apiKey({ name: 'X-Other' })),
  'breaking scheme-changed /securitySchemes/oauth the security scheme `oauth` no longer has `flows.clientCredentials.scopes.write`':
    to(withOauth({ clientCredentials: { ...flow, scopes: { read: 'Reads' } } })),
  'additive scheme-extended /securitySchemes/oauth the security scheme `oauth` now also has `flows.clientCredentials.scopes.drop`':
    to(withOauth({ clientCredentials: { ...flow, scopes: { read: 'Reads all', write: 'Writes', drop: 'Drops' } } })),
  'breaking scheme-changed /securitySchemes/oauth the security scheme `oauth` now requires PKCE': to(
    withOauth({ authorizationCode: { ...codeFlow, pkceRequired: true } }),
    withOauth({ authorizationCode: codeFlow }),
  ),
  'cosmetic text-changed /securitySchemes/key the security scheme `key` changes its description': to(
    http('bearer'),
    http('Bearer'),
  ),
  'breaking credentials-required /securityRequirements the agent now requires credentials: `key` or `oauth (read)`': to(
    {},
    required(),
  ),
  'additive credentials-accepted /securityRequirements the agent no longer requires credentials': to(required()),
  'breaking credentials-required /securityRequirements the agent no longer accepts callers with `oauth (read)`': to(
    required(oauth('read', 'write'), base.securityRequirements[0]),
  ),
  'additive credentials-accepted /securityRequirements the agent now accepts callers with `oauth`': to(
    required(...base.securityRequirements, oauth()),
  ),
  'cosmetic details-changed /securityRequirements the agent lists its required credentials differently': to(
    required(...base.securityRequirements.toReversed()),
  ),
  'breaking credentials-required /skills/0/securityRequirements skill `forecast` no longer accepts callers with `key` or `oauth (read)`':
    to({ skills: [{ ...skill, ...required({ schemes: { key: { list: [] }, oauth: { list: ['read'] } } }) }, history] }),
}

const cases: Case[] = [
  ...listCases(singleChanges),
  [
    apiKey({ description: 'Ask us' }),
    ['cosmetic', 'text-changed /securitySchemes/key the security scheme `key` changes its description'],
  ],
  [{}, ['cosmetic']],
  [
    { capabilities: { ...base.capabilities, streaming: false, pushNotifications: true } },
    [
      'breaking',
      'capability-removed /capabilities/streaming the agent no longer has the capability `streaming`',
      'capability-added /capabilities/pushNotifications the agent now has the capability `pushNotifications`',
    ],
  ],
  [
    withExtensions({ ...two, required: true }),
    [
      'breaking',
      'extension-removed /capabilities/extensions/0 the agent no longer supports the extension `https://e.example/1`',
      'extension-required /capabilities/extensions/0 the agent now requires the extension `https://e.example/2`',
    ],
  ],
  [
    { securitySchemes: { oauth: base.securitySchemes.oauth }, ...required(oauth('read')) },
    [
      'breaking',
      'scheme-removed /securitySchemes/key the security scheme `key` is removed',
      'credentials-required /securityRequirements the agent no longer accepts callers with `key`',
    ],
  ],
  [
    withOauth({ authorizationCode: { ...codeFlow, pkceRequired: true } }),
    [
      'breaking',
      'scheme-changed /securitySchemes/oauth the security scheme `oauth` no longer has `flows.clientCredentials`',
      'scheme-extended /securitySchemes/oauth the security scheme `oauth` now also has `flows.authorizationCode`',
    ],
  ],
  [
    {
      name: 'Z',
      version: '1.0.1',
      provider: { organization: 'P', url: 'https://p.example' },
      skills: [{ ...skill, tags: ['u'], examples: ['Rain?'] }, history],
      vendor: { tier: 1 },
    },
    [
      'cosmetic',
      'text-changed /name the agent changes its `name` from `A` to `Z`',
      'version-changed /version the agent changes its `version` from `1.0.0` to `1.0.1`',
      'text-changed /provider the agent now has `provider`',
      'details-changed /vendor the agent now has `vendor`',
      'text-changed /skills/0/tags skill `forecast` changes its `tags`',
      'text-changed /skills/0/examples skill `forecast` now has `examples`',
    ],
  ],
]

/** Returns what clients get of an agent behind the gateway, whose manifest has these fields. */
const offerOf = (fields: object) => {
  const compiled = compileCard({ card: base, route: 'gateway', ...fields } as JsonObject)
  return compiled
}
const listManifestChanges = (after: object, before: object = {}) => {
  const { class: name, changes } = classifyChanges(offerOf(before), offerOf(after))
  return [name, ...changes.map(({ rule, pointer, message }) => `${rule} ${pointer} ${message}`)]
}
const issuer = { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example/openid-configuration' } }
const trusting = { card: { ...base, ...schemes({ issuer }) } }
const partnerWith = (...inputModes: string[]) => ({
  tiers: { partner: { skills: [{ ...skill, id: 'secret', inputModes }] } },
})
const partner = partnerWith('text/plain', 'image/png')
const more = { extended: { description: 'More' } }

const singleManifestChanges: Record<string, ReturnType<typeof to>> = {
  'breaking agent-hidden /visibility the agent is no longer public: clients need a token of this host for it': to({
    visibility: 'internal',
  }),
  'additive agent-published /visibility the agent is now public': to({}, { visibility: 'internal' }),
  'additive gate-widened /gate/modes the gate no longer refuses calls with media types that the card does not list': to(
    { gate: { modes: 'warn' } },
    { gate: { modes: 'enforce' } },
  ),
  'breaking gate-narrowed /gate/tasks each caller now reaches only the tasks that it started': to({
    upstream: { secret: 'A_TOKEN' },
  }),
  'additive gate-widened /gate/tasks each caller now reaches the tasks of all callers': to(
    { gate: { tasks: 'shared' } },
    { gate: { tasks: 'owner' } },
  ),
  'additive credentials-accepted /jwt/tiers/partner access tokens can now have the tier `partner`': to(
    { ...trusting, ...partner, jwt: { tiers: { partner: { scope: 'b' } } } },
    { ...trusting, ...partner },
  ),
  'breaking tier-removed /tiers/partner the tier `partner` is removed': to(more, { ...more, ...partner }),
  'breaking mode-removed /skills/2/inputModes in the extended card of the tier `partner`, skill `secret` no longer accepts `image/png`':
    to(partnerWith('text/plain'), partner),
}

const manifestCases: Case[] = [
  ...listCases(singleManifestChanges),
  [{ set: 'a', compatibility: 'off', allowSecrets: [] }, ['cosmetic']],
  [
    {},
    [
      'breaking',
      'gate-narrowed /gate/capabilities the gate now refuses calls that need a capability which the card does not declare',
      'gate-narrowed /gate/modes the gate now refuses calls with media types that the card does not list',
      'gate-narrowed /gate/extensions the gate now refuses calls without the extensions that the card requires',
      'gate-narrowed /gate/version the gate now refuses calls in a version of A2A that the card does not offer',
      'gate-narrowed /gate/responses the gate now refuses responses of the agent that are not valid',
    ],
    { gate: { capabilities: 'off', modes: 'warn', extensions: 'off', version: 'off', responses: 'off' } },
  ],
  [{ gate: { modes: 'warn' } }, ['cosmetic'], { gate: { modes: 'off' } }],
  [
    { ...trusting, jwt: { audience: 'https://b.example', scope: 'write' } },
    [
      'breaking',
      'credentials-required /jwt/audience access tokens for the URL of the agent are no longer accepted',
      'credentials-required /jwt/scope access tokens now need the scope `write`',
      'credentials-accepted /jwt/audience access tokens for `https://b.example` are now accepted',
    ],
    { ...trusting, jwt: { scope: 'read' } },
  ],
  [
    { ...trusting, ...partner, jwt: { tiers: { partner: { scope: 'b' } } } },
    [
      'breaking',
      'credentials-required /jwt/tiers/partner access tokens that had the tier `partner` may no longer have it',
      'credentials-accepted /jwt/scope access tokens no longer need the scope `read`',
    ],
    { ...trusting, ...partner, jwt: { scope: 'read', tiers: { partner: { scope: 'a' } } } },
  ],
  [
    { ...more, ...partner },
    [
      'additive',
      'capability-added /capabilities/extendedAgentCard the agent now has the capability `extendedAgentCard`',
      'tier-added /extended the extended card is new',
      'tier-added /tiers/partner the tier `partner` is new',
    ],
  ],
]

describe('classifyChanges', () => {
  it('classes the changes of a card', () => {
    for (const [after, [name, ...changes], before] of cases) {
      const [found, ...listed] = listChanges(after, before)
      expect([found, ...listed.toSorted()]).toStrictEqual([name, ...changes.toSorted()])
    }
  })

  it('finds every kind of change in these cases', () => {
    const found = [...cases, ...manifestCases].flatMap(([, changes]) =>
      changes.slice(1).map(change => change.split(' ')[0]),
    )
    expect([...new Set(found)].toSorted()).toStrictEqual(Object.keys(changeRules).toSorted())
  })

  it('lists the most severe changes first', () => {
    const { changes } = classifyChanges(
      offer(),
      offer({ name: 'Z', skills: [history], capabilities: { ...base.capabilities, pushNotifications: true } }),
    )
    expect(changes.map(({ class: name }) => name)).toStrictEqual(['breaking', 'additive', 'cosmetic'])
  })

  it('never repeats what looks like a secret', () => {
    const secret = 'sk-live-4f9a8b7c6d5e4f3a2b1c'
    const allowed = { allowSecrets: ['/card/name', '/card/skills/0/id', '/card/description'] }
    const secretive = { ...base, name: secret, description: `Use ${secret}`, skills: [{ ...skill, id: secret }] }
    const after = compileCard({ card: secretive, ...allowed } as JsonObject).card
    const policy = (audience: string) => offerOf({ ...trusting, jwt: { audience } })
    expect(JSON.stringify(classifyChanges(policy('a'), policy(secret)))).toContain('[secret]')
    const text = JSON.stringify([classifyChanges(offer(), { card: after }), classifyChanges({ card: after }, offer())])
    expect(text).toContain('[secret]')
    expect(text).not.toContain(secret.slice(0, 12))
  })

  it('is bounded, and tells how many changes it leaves out', () => {
    const skills = Array.from({ length: 300 }, (_, index) => ({ ...skill, id: `${index}-${'x'.repeat(500)}` }))
    const { class: name, changes } = classifyChanges(offer({ skills }), offer())
    expect(name).toBe('breaking')
    expect(changes).toHaveLength(101)
    expect(changes.at(-1)?.message).toMatch(/ \(one of 2\d\d more\)$/)
    expect(Math.max(...changes.map(({ message }) => message.length))).toBeLessThan(300)
  })

  it('describes each change on one line', () => {
    const schemes = { 'a\n\u001b[2J': { mtlsSecurityScheme: {} } }
    const { changes } = classifyChanges(offer(), offer({ securitySchemes: schemes, securityRequirements: [] }))
    expect(JSON.stringify(changes.map(({ message }) => message))).not.toMatch(/\\[nu]/)
  })

  it('keeps names of prototypes apart', () => {
    const after = card({ capabilities: { ...base.capabilities, toString: true } })
    expect(classifyChanges(offer(), { card: after }).changes.map(({ pointer }) => pointer)).toStrictEqual([
      '/capabilities/toString',
    ])
    expect(listChanges(schemes({ valueOf: { mtlsSecurityScheme: {} } }))).toHaveLength(2)
  })
})

describe('classifyChanges of manifests', () => {
  it('classes what clients notice, and finds something in the other direction, too', () => {
    for (const [after, changes, before] of manifestCases) {
      expect(listManifestChanges(after, before)).toStrictEqual(changes)
      expect([changes, listManifestChanges(before ?? {}, after).length > 1]).toEqual([changes, changes.length > 1])
    }
  })

  it('describes a change of the public card and of each tier once, the base tier first', () => {
    const tiers = { extended: { description: 'More' }, tiers: { a: { name: 'For a' } } }
    expect(listManifestChanges({ ...tiers, card: { ...base, name: 'Z' } }, tiers)).toStrictEqual([
      'cosmetic',
      'text-changed /name the agent changes its `name` from `A` to `Z`',
    ])
    const overlay = { ...tiers, extended: { description: 'Less' } }
    expect(listManifestChanges(overlay, tiers)).toStrictEqual([
      'cosmetic',
      'text-changed /description in the extended card, the agent changes its `description` from `More` to `Less`',
    ])
  })

  it('names the tier of a change', () => {
    const { changes } = classifyChanges(offerOf(partner), offerOf({ tiers: { partner: { name: 'P' } } }))
    expect(changes.map(({ rule, tier }) => [rule, tier])).toStrictEqual([
      ['skill-removed', 'partner'],
      ['text-changed', 'partner'],
    ])
  })

  it('compares the cards alone where a manifest cannot be read', () => {
    const [before, after] = [offerOf({}), offerOf({ visibility: 'internal', card: { ...base, name: 'Z' } })]
    const { changes } = classifyChanges({ ...before, manifest: undefined }, after)
    expect(changes.map(({ rule }) => rule)).toStrictEqual(['text-changed'])
  })
})

it('takes linear time for the modes of skills, however many skills have them', async () => {
  const list = <Item>(length: number, make: (index: number) => Item) => Array.from({ length }, (_, id) => make(id))
  // To compile so many skills takes longer than to compare them.
  const offerMany = (skills: number, modes: number, kind: string) => {
    const inputModes = list(modes, mode => `${kind}/${mode}`)
    return {
      card: { ...offer().card, skills: list(skills, id => ({ ...skill, id: `${id}`, inputModes })) } as AgentCard,
    }
  }
  const measure = (sizes: (count: number) => [skills: number, modes: number]) => {
    const offers = new Map(
      [200, 400].map(count => [count, ['a', 'b'].map(kind => offerMany(...sizes(count), kind))] as const),
    )
    return growthWhenDoubled(200, 5, count => {
      const [before = offer(), after = offer()] = offers.get(count) ?? []
      return classifyChanges(before, after)
    })
  }
  expect(await measure(count => [count, 90])).toBeLessThan(doubled)
  expect(await measure(count => [1, count * 20])).toBeLessThan(doubled)
})

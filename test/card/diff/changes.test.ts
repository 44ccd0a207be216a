import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { type ChangeRule, changeClasses, changeRules } from '../../../src/card/diff/change-rules.ts'
import { classifyChanges } from '../../../src/card/diff/changes.ts'
import { type Json, type JsonObject, jsonEquals } from '../../../src/json/json.ts'
import { compileCard, registration } from '../../support/cards/compile.ts'
import { authoredCard } from '../../support/cards/generated.ts'
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
const [rpc, rest] = base.supportedInterfaces
const [forecast, history] = base.skills

const cases: [title: string, after: object, changes: string[], before?: object][] = [
  ['nothing', {}, ['cosmetic']],
  ['a removed skill', { skills: [history] }, ['breaking', 'skill-removed /skills/0 skill `forecast` is removed']],
  [
    'a new skill',
    { skills: [...base.skills, { ...skill, id: 'now' }] },
    ['additive', 'skill-added /skills/2 skill `now` is new'],
  ],
  [
    'another id of a skill',
    { skills: [{ ...skill, id: 'now' }, history] },
    ['breaking', 'skill-removed /skills/0 skill `forecast` is removed', 'skill-added /skills/0 skill `now` is new'],
  ],
  [
    'a media type that a skill no longer accepts',
    { skills: [forecast, { ...history, inputModes: ['text/plain'] }] },
    ['breaking', 'mode-removed /skills/1/inputModes skill `history` no longer accepts `image/png`'],
  ],
  [
    'a range that becomes narrower',
    { defaultInputModes: ['text/plain', 'image/png'] },
    ['breaking', 'mode-removed /defaultInputModes the agent no longer accepts `image/*`'],
  ],
  [
    'a range that becomes wider',
    { defaultOutputModes: ['text/*'] },
    ['additive', 'mode-added /defaultOutputModes the agent now also produces `text/*`'],
  ],
  [
    'modes of its own that a skill gets',
    { skills: [{ ...skill, inputModes: ['text/plain'] }, history] },
    ['breaking', 'mode-removed /skills/0/inputModes skill `forecast` no longer accepts `image/*`'],
  ],
  [
    'modes that a skill repeats',
    { skills: [{ ...skill, inputModes: base.defaultInputModes }, history] },
    ['cosmetic', 'details-changed /skills/0/inputModes skill `forecast` now has `inputModes`'],
  ],
  [
    'many media types that are lost at once',
    { defaultInputModes: ['text/plain'] },
    [
      'breaking',
      'mode-removed /defaultInputModes the agent no longer accepts `a/0`, `a/1`, `a/2`, `a/3`, `a/4`, `a/5`, `a/6`, `a/7`, `a/8`, `a/9` and 2 more',
    ],
    { defaultInputModes: ['text/plain', ...Array.from({ length: 12 }, (_, index) => `a/${index}`)] },
  ],
  [
    'a capability that is withdrawn, and one that is new',
    { capabilities: { ...base.capabilities, streaming: false, pushNotifications: true } },
    [
      'breaking',
      'capability-removed /capabilities/streaming the agent no longer has the capability `streaming`',
      'capability-added /capabilities/pushNotifications the agent now has the capability `pushNotifications`',
    ],
  ],
  [
    'a capability of another dialect',
    { capabilities: { ...base.capabilities, stateTransitionHistory: true } },
    [
      'additive',
      'capability-added /capabilities/stateTransitionHistory the agent now has the capability `stateTransitionHistory`',
    ],
  ],
  [
    'an extension that is removed, and a new one that is required',
    withExtensions({ uri: 'https://e.example/2', required: true }),
    [
      'breaking',
      'extension-removed /capabilities/extensions/0 the agent no longer supports the extension `https://e.example/1`',
      'extension-required /capabilities/extensions/0 the agent now requires the extension `https://e.example/2`',
    ],
  ],
  [
    'an extension that becomes required',
    withExtensions({ uri: 'https://e.example/1', params: {}, required: true }),
    [
      'breaking',
      'extension-required /capabilities/extensions/0 the agent now requires the extension `https://e.example/1`',
    ],
  ],
  [
    'an extension that becomes optional',
    {},
    [
      'additive',
      'extension-optional /capabilities/extensions/0 the agent no longer requires the extension `https://e.example/1`',
    ],
    withExtensions({ uri: 'https://e.example/1', params: {}, required: true }),
  ],
  [
    'other parameters of an extension',
    withExtensions({ uri: 'https://e.example/1', params: { depth: 2 } }),
    [
      'breaking',
      'extension-changed /capabilities/extensions/0 the extension `https://e.example/1` has other parameters',
    ],
  ],
  [
    'a new optional extension',
    withExtensions({ uri: 'https://e.example/1', params: {} }, { uri: 'https://e.example/2' }),
    [
      'additive',
      'extension-added /capabilities/extensions/1 the agent now also supports the extension `https://e.example/2`',
    ],
  ],
  [
    'the description of an extension that is required as before',
    withExtensions({ uri: 'https://e.example/1', required: true, description: 'D' }),
    ['cosmetic', 'details-changed /capabilities the agent changes its `capabilities`'],
    withExtensions({ uri: 'https://e.example/1', required: true }),
  ],
  [
    'a media type that was listed as not acceptable',
    {},
    ['cosmetic', 'details-changed /defaultInputModes the agent changes its `defaultInputModes`'],
    { defaultInputModes: [...base.defaultInputModes, 'audio/wav;q=0'] },
  ],
  [
    'an interface that is removed',
    { supportedInterfaces: [rpc] },
    [
      'breaking',
      'interface-removed /supportedInterfaces/1 the agent no longer offers `HTTP+JSON` (A2A `1.0`) at `https://a.example/rest`',
    ],
  ],
  [
    'an interface that is new',
    { supportedInterfaces: [rpc, rest, { ...rpc, protocolVersion: '0.3' }] },
    [
      'additive',
      `interface-added /supportedInterfaces/2 the agent now also offers \`JSONRPC\` (A2A \`0.3\`) at \`${url}\``,
    ],
  ],
  [
    'another address',
    { supportedInterfaces: [{ ...rpc, url: 'https://b.example/' }, rest] },
    [
      'breaking',
      `interface-moved /supportedInterfaces/0 the agent moves \`JSONRPC\` (A2A \`1.0\`) from \`${url}\` to \`https://b.example/\``,
    ],
  ],
  [
    'another tenant',
    { supportedInterfaces: [{ ...rpc, tenant: 'acme' }, rest] },
    [
      'breaking',
      `interface-moved /supportedInterfaces/0 the agent moves \`JSONRPC\` (A2A \`1.0\`) from \`${url}\` to \`${url}\` for tenant \`acme\``,
    ],
  ],
  [
    'another version of the protocol',
    { supportedInterfaces: [{ ...rpc, protocolVersion: '0.3' }, rest] },
    [
      'breaking',
      `protocol-changed /supportedInterfaces/0 the agent speaks \`JSONRPC\` (A2A \`0.3\`) instead of \`JSONRPC\` (A2A \`1.0\`) at \`${url}\``,
    ],
  ],
  [
    'another binding',
    { supportedInterfaces: [{ ...rpc, protocolBinding: 'GRPC' }, rest] },
    [
      'breaking',
      `protocol-changed /supportedInterfaces/0 the agent speaks \`GRPC\` (A2A \`1.0\`) instead of \`JSONRPC\` (A2A \`1.0\`) at \`${url}\``,
    ],
  ],
  [
    'the order of the interfaces',
    { supportedInterfaces: [rest, rpc] },
    ['cosmetic', 'details-changed /supportedInterfaces the agent lists its `supportedInterfaces` in another order'],
  ],
  [
    'a scheme that is removed',
    { securitySchemes: { oauth: base.securitySchemes.oauth }, securityRequirements: [base.securityRequirements[1]] },
    [
      'breaking',
      'scheme-removed /securitySchemes/key the security scheme `key` is removed',
      'credentials-required /securityRequirements the agent no longer accepts callers with `key`',
    ],
  ],
  [
    'a scheme that is new',
    { securitySchemes: { ...base.securitySchemes, mtls: { mtlsSecurityScheme: {} } } },
    ['additive', 'scheme-added /securitySchemes/mtls the security scheme `mtls` is new'],
  ],
  [
    'a scheme of another type',
    { securitySchemes: { ...base.securitySchemes, key: { httpAuthSecurityScheme: { scheme: 'bearer' } } } },
    [
      'breaking',
      'scheme-changed /securitySchemes/key the security scheme `key` is `httpAuthSecurityScheme` instead of `apiKeySecurityScheme`',
    ],
  ],
  [
    'another header of an API key',
    {
      securitySchemes: {
        ...base.securitySchemes,
        key: { apiKeySecurityScheme: { name: 'X-Other', location: 'header' } },
      },
    },
    [
      'breaking',
      'scheme-changed /securitySchemes/key the security scheme `key` changes its `name` from `X-Key` to `X-Other`',
    ],
  ],
  [
    'fewer scopes',
    withOauth({ clientCredentials: { ...flow, scopes: { read: 'Reads' } } }),
    [
      'breaking',
      'scheme-changed /securitySchemes/oauth the security scheme `oauth` no longer has `flows.clientCredentials.scopes.write`',
    ],
  ],
  [
    'more scopes, with other descriptions',
    withOauth({ clientCredentials: { ...flow, scopes: { read: 'Reads all', write: 'Writes', drop: 'Drops' } } }),
    [
      'additive',
      'scheme-extended /securitySchemes/oauth the security scheme `oauth` now also has `flows.clientCredentials.scopes.drop`',
    ],
  ],
  [
    'a flow that newly requires PKCE',
    withOauth({ authorizationCode: { ...flow, authorizationUrl: 'https://id.example/', pkceRequired: true } }),
    ['breaking', 'scheme-changed /securitySchemes/oauth the security scheme `oauth` now requires PKCE'],
    withOauth({ authorizationCode: { ...flow, authorizationUrl: 'https://id.example/' } }),
  ],
  [
    'another flow, which requires PKCE',
    withOauth({ authorizationCode: { ...flow, authorizationUrl: 'https://id.example/', pkceRequired: true } }),
    [
      'breaking',
      'scheme-changed /securitySchemes/oauth the security scheme `oauth` no longer has `flows.clientCredentials`',
      'scheme-extended /securitySchemes/oauth the security scheme `oauth` now also has `flows.authorizationCode`',
    ],
  ],
  [
    'another case of an HTTP authentication scheme',
    { securitySchemes: { ...base.securitySchemes, key: { httpAuthSecurityScheme: { scheme: 'bearer' } } } },
    ['cosmetic', 'text-changed /securitySchemes/key the security scheme `key` changes its description'],
    { securitySchemes: { ...base.securitySchemes, key: { httpAuthSecurityScheme: { scheme: 'Bearer' } } } },
  ],
  [
    'the order of the skills',
    { skills: [history, forecast] },
    ['cosmetic', 'details-changed /skills the agent lists its `skills` in another order'],
  ],
  [
    'the description of a scheme',
    {
      securitySchemes: {
        ...base.securitySchemes,
        key: { apiKeySecurityScheme: { name: 'X-Key', location: 'header', description: 'Ask us' } },
      },
    },
    ['cosmetic', 'text-changed /securitySchemes/key the security scheme `key` changes its description'],
  ],
  [
    'credentials that are newly required',
    {},
    [
      'breaking',
      'credentials-required /securityRequirements the agent now requires credentials: `key` or `oauth (read)`',
    ],
    { securityRequirements: [] },
  ],
  [
    'credentials that are no longer required',
    { securityRequirements: [] },
    ['additive', 'credentials-accepted /securityRequirements the agent no longer requires credentials'],
  ],
  [
    'one more scope in every alternative',
    { securityRequirements: [{ schemes: { oauth: { list: ['read', 'write'] } } }, base.securityRequirements[0]] },
    ['breaking', 'credentials-required /securityRequirements the agent no longer accepts callers with `oauth (read)`'],
  ],
  [
    'one more alternative',
    { securityRequirements: [...base.securityRequirements, { schemes: { oauth: { list: [] } } }] },
    ['additive', 'credentials-accepted /securityRequirements the agent now accepts callers with `oauth`'],
  ],
  [
    'the order of the alternatives',
    { securityRequirements: base.securityRequirements.toReversed() },
    ['cosmetic', 'details-changed /securityRequirements the agent lists its required credentials differently'],
  ],
  [
    'credentials that one skill newly requires',
    {
      skills: [
        { ...skill, securityRequirements: [{ schemes: { key: { list: [] }, oauth: { list: ['read'] } } }] },
        history,
      ],
    },
    [
      'breaking',
      'credentials-required /skills/0/securityRequirements skill `forecast` no longer accepts callers with `key` or `oauth (read)`',
    ],
  ],
  [
    'texts',
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
  return { ...compiled, tiers: compiled.extended }
}
const listManifestChanges = (after: object, before: object = {}) => {
  const { class: name, changes } = classifyChanges(offerOf(before), offerOf(after))
  return [name, ...changes.map(({ rule, pointer, message }) => `${rule} ${pointer} ${message}`)]
}
const issuer = {
  openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' },
}
const trusting = { card: { ...base, securitySchemes: { ...base.securitySchemes, issuer } } }
const partner = {
  tiers: { partner: { skills: [{ ...skill, id: 'secret', inputModes: ['text/plain', 'image/png'] }] } },
}

const manifestCases: typeof cases = [
  ['what clients do not see', { set: 'a', compatibility: 'off', allowSecrets: [] }, ['cosmetic']],
  [
    'an agent that is no longer public',
    { visibility: 'internal' },
    ['breaking', 'agent-hidden /visibility the agent is no longer public: clients need a token of this host for it'],
  ],
  [
    'an agent that becomes public',
    {},
    ['additive', 'agent-published /visibility the agent is now public'],
    { visibility: 'internal' },
  ],
  [
    'checks of the gate that newly refuse calls',
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
  ['checks that go from off to warn', { gate: { modes: 'warn' } }, ['cosmetic'], { gate: { modes: 'off' } }],
  [
    'a check that no longer refuses calls',
    { gate: { modes: 'warn' } },
    [
      'additive',
      'gate-widened /gate/modes the gate no longer refuses calls with media types that the card does not list',
    ],
    { gate: { modes: 'enforce' } },
  ],
  [
    'tasks that are newly kept apart, also by default',
    { upstream: { secret: 'A_TOKEN' } },
    ['breaking', 'gate-narrowed /gate/tasks each caller now reaches only the tasks that it started'],
  ],
  [
    'tasks that are shared again',
    { gate: { tasks: 'shared' } },
    ['additive', 'gate-widened /gate/tasks each caller now reaches the tasks of all callers'],
    { gate: { tasks: 'owner' } },
  ],
  [
    'access tokens that need another scope and audience',
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
    'access tokens that no longer need a scope, but another one for a tier',
    { ...trusting, ...partner, jwt: { tiers: { partner: { scope: 'b' } } } },
    [
      'breaking',
      'credentials-required /jwt/tiers/partner access tokens that had the tier `partner` may no longer have it',
      'credentials-accepted /jwt/scope access tokens no longer need the scope `read`',
    ],
    { ...trusting, ...partner, jwt: { scope: 'read', tiers: { partner: { scope: 'a' } } } },
  ],
  [
    'access tokens that can have a tier',
    { ...trusting, ...partner, jwt: { tiers: { partner: { scope: 'b' } } } },
    ['additive', 'credentials-accepted /jwt/tiers/partner access tokens can now have the tier `partner`'],
    { ...trusting, ...partner },
  ],
  [
    'an extended card and a tier that are new',
    { extended: { description: 'More' }, ...partner },
    [
      'additive',
      'capability-added /capabilities/extendedAgentCard the agent now has the capability `extendedAgentCard`',
      'tier-added /extended the extended card is new',
      'tier-added /tiers/partner the tier `partner` is new',
    ],
  ],
  [
    'a tier that is removed',
    { extended: { description: 'More' } },
    ['breaking', 'tier-removed /tiers/partner the tier `partner` is removed'],
    { extended: { description: 'More' }, ...partner },
  ],
  [
    'a skill of a tier that accepts less',
    { tiers: { partner: { skills: [{ ...skill, id: 'secret', inputModes: ['text/plain'] }] } } },
    [
      'breaking',
      'mode-removed /skills/2/inputModes in the extended card of the tier `partner`, skill `secret` no longer accepts `image/png`',
    ],
    partner,
  ],
]

describe('classifyChanges', () => {
  it.each(cases)('classes %s', (_, after, changes, before) => {
    expect(listChanges(after, before).toSorted()).toStrictEqual(changes.toSorted())
    expect(listChanges(after, before)[0]).toBe(changes[0])
  })

  it('finds every kind of change in these cases', () => {
    const found = [...cases, ...manifestCases].flatMap(([, , changes]) =>
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

  it('is about the card that is served: a moved agent behind the gateway changes nothing for clients', () => {
    const served = (address: string) =>
      compileCard({
        route: 'gateway',
        card: { ...base, supportedInterfaces: [{ ...rpc, url: address }] },
      } as JsonObject)
    const [before, after] = [served('https://a.example/a2a'), served('https://b.example/a2a')]
    expect(classifyChanges({ card: before.card }, { card: after.card })).toStrictEqual({
      class: 'cosmetic',
      changes: [],
    })
    expect(classifyChanges({ card: before.direct }, { card: after.direct }).class).toBe('breaking')
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
    const schemes = { ...base.securitySchemes, valueOf: { mtlsSecurityScheme: {} } }
    expect(listChanges({ securitySchemes: schemes })).toStrictEqual([
      'additive',
      'scheme-added /securitySchemes/valueOf the security scheme `valueOf` is new',
    ])
  })
})

describe('classifyChanges of manifests', () => {
  it.each(manifestCases)('classes %s', (_, after, changes, before) => {
    expect(listManifestChanges(after, before)).toStrictEqual(changes)
    const back = listManifestChanges(before ?? {}, after)
    expect(back.length === 1).toBe(changes.length === 1)
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

describe('classifyChanges of generated cards', () => {
  const compileOptional = (authored: JsonObject) => {
    const result = compile(authored, registration)
    return 'errors' in result ? undefined : result.compiled.card
  }

  it('finds none between equal cards, some between different ones, and orders them by class', () => {
    let compared = 0
    fc.assert(
      fc.property(authoredCard, authoredCard, (left, right) => {
        const [before, after] = [left, right].map(each => compileOptional(JSON.parse(JSON.stringify(each))))
        if (!before || !after) return
        compared++
        expect(classifyChanges({ card: before }, { card: structuredClone(before) }).changes).toStrictEqual([])
        const { class: name, changes } = classifyChanges({ card: before }, { card: after })
        expect(changes.length === 0).toBe(jsonEquals(before as Json, after as Json))
        const ranks = changes.map(change => changeClasses.indexOf(change.class))
        expect(ranks).toStrictEqual(ranks.toSorted((a, b) => a - b))
        expect(changes[0]?.class ?? 'cosmetic').toBe(name)
        for (const { rule, class: own } of changes) expect(changeRules[rule as ChangeRule]).toBe(own)
      }),
    )
    expect(compared).toBeGreaterThan(0)
  })
})

describe('the time to classify changes', () => {
  const large: Record<string, (count: number, host: string) => object> = {
    skills: (count, host) => ({
      skills: Array.from({ length: count }, (_, index) => ({
        ...skill,
        id: `${host}${index}`,
        inputModes: ['a/b', `${host}/x`],
      })),
    }),
    'modes of skills': (count, host) => ({
      skills: Array.from({ length: count }, (_, index) => ({
        ...skill,
        id: `${index}`,
        inputModes: Array.from({ length: 90 }, (_, mode) => `${host}/${mode}`),
      })),
    }),
    schemes: (count, host) => ({
      securitySchemes: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [
          `s${index}`,
          { openIdConnectSecurityScheme: { openIdConnectUrl: `https://${host}.example/${index}` } },
        ]),
      ),
      securityRequirements: [],
    }),
  }

  it.each(Object.entries(large))('is linear in the number of %s', async (_, fields) => {
    const cards = new Map(
      [200, 400].map(count => {
        const [before, after] = [offer(fields(count, 'a')), offer(fields(count, 'b'))]
        return [count, () => classifyChanges(before, after)]
      }),
    )
    expect(await growthWhenDoubled(200, 5, count => cards.get(count)?.())).toBeLessThan(doubled)
  })
})

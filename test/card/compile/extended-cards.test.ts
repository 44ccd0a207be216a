import { describe, expect, it } from 'vitest'
import { representationNames } from '../../../src/card/model/constants.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'
import { getValue } from '../../support/cards/pointers.ts'

const card = { name: 'A', description: 'B', url: 'https://a.example/a2a' }
const talk = { id: 'talk', name: 'Talk', description: 'Talks', tags: ['talk'], examples: ['Hello'] }
const history = { id: 'history', name: 'History', description: 'Remembers', tags: ['past'] }

/** The strict 1.0 card of each tier of a manifest. */
const cardsOf = (manifest: Json) =>
  Object.fromEntries(compileCard(manifest).extended.map(({ tier, documents }) => [tier, documents['1.0']]))
const skillsOf = (manifest: Json) =>
  Object.fromEntries(Object.entries(cardsOf(manifest)).map(([t, c]) => [t, c.skills]))

describe('the tiers of a manifest', () => {
  it.each<[string, JsonObject, string[]]>([
    ['none, without overlays', {}, []],
    ['none, with an empty map', { tiers: {} }, []],
    ['base, with `extended`', { extended: {} }, ['base']],
    ['base below those that are named', { tiers: { gold: {} } }, ['base', 'gold']],
    [
      'in the order that they are written in',
      { extended: {}, tiers: { silver: {}, gold: {} } },
      ['base', 'silver', 'gold'],
    ],
  ])('%s', (_, more, tiers) => {
    const { extended, profile } = compileCard({ card, ...more })
    expect([extended.map(({ tier }) => tier), profile.tiers, profile.extendedAgentCard]).toStrictEqual([
      tiers,
      tiers,
      tiers.length > 0,
    ])
  })

  it('lie over `extended`, not over each other, and nothing of theirs is in the card below', () => {
    const descriptions = Object.entries(
      cardsOf({
        card: { ...card, version: '1' },
        extended: { description: 'For tokens', version: '2' },
        tiers: { silver: { version: '3' }, gold: { description: 'For gold' } },
      }),
    ).map(([tier, { description, version }]) => [tier, description, version])
    expect(descriptions).toStrictEqual([
      ['base', 'For tokens', '2'],
      ['silver', 'For tokens', '3'],
      ['gold', 'For gold', '2'],
    ])
  })

  it('base is the public card where only named tiers add to it', () => {
    const { extended, documents } = compileCard({ card, tiers: { gold: { name: 'Gold' } } })
    expect(extended[0]).toStrictEqual({ tier: 'base', documents })
  })

  it('are in every representation that the public card is in', () => {
    const { extended } = compileCard({ card, extended: { description: 'More' } })
    expect(Object.entries(extended[0]?.documents ?? {}).map(([name, { description }]) => [name, description])).toEqual(
      expect.arrayContaining(representationNames.map(name => [name, 'More'])),
    )
  })
})

describe('skills of an overlay', () => {
  it.each<[string, Json | undefined, Json, Json]>([
    ['a new id is added', [talk], [history], [talk, history]],
    [
      'a known id is changed, member by member',
      [talk],
      [{ id: 'talk', name: 'Speak', examples: null }],
      [{ id: 'talk', name: 'Speak', description: 'Talks', tags: ['talk'] }],
    ],
    ['none takes nothing away', [talk], [], [talk]],
    ['a bare name of a skill that is there says nothing more', [talk], ['Talk'], [talk]],
    [
      'a bare name is added',
      [talk],
      ['Sing'],
      [talk, { id: 'sing', name: 'Sing', description: 'Sing', tags: ['general'] }],
    ],
    [
      'a skill that was a bare name gets more to it',
      ['Talk'],
      [{ id: 'talk', tags: ['t'] }],
      [{ id: 'talk', name: 'Talk', description: 'Talk', tags: ['t'] }],
    ],
    [
      'a skill without an id goes by that which its name makes',
      [{ name: 'Book Order' }],
      [
        { id: 'book-order', description: 'Books' },
        { name: 'Book Order', tags: ['orders'] },
      ],
      [{ name: 'Book Order', id: 'book-order', description: 'Books', tags: ['orders'] }],
    ],
    [
      'an id stays, whatever is said of it',
      [{ ...talk, id: 'talk' }],
      [{ id: null, name: 'talk', tags: ['t'] }],
      [{ ...talk, name: 'talk', tags: ['t'] }],
    ],
    [
      'the skill that the host fills in stays, and can be changed',
      undefined,
      [{ id: 'main', tags: ['m'] }, history],
      [{ id: 'main', name: 'A', description: 'B', tags: ['m'] }, history],
    ],
  ])('%s', (_, skills, patch, expected) => {
    const manifest = { card: { ...card, ...(skills && { skills }) }, extended: { skills: patch } }
    expect(skillsOf(manifest).base).toEqual(expected)
  })

  it('of a tier are laid over those of `extended`', () => {
    expect(
      skillsOf({
        card: { ...card, skills: [talk] },
        extended: { skills: [history] },
        tiers: {
          gold: {
            skills: [
              { id: 'history', tags: ['gold'] },
              { ...history, id: 'more' },
            ],
          },
        },
      }),
    ).toEqual({
      base: [talk, history],
      gold: [talk, { ...history, tags: ['gold'] }, { ...history, id: 'more' }],
    })
  })
})

describe('an overlay in the words of its author', () => {
  it.each<[string, JsonObject, JsonObject, string, Json]>([
    [
      '0.3',
      { securitySchemes: { x: { type: 'http', scheme: 'basic' } } },
      {},
      '/securitySchemes/x',
      { httpAuthSecurityScheme: { scheme: 'basic' } },
    ],
    ['gopherhole', { supportedOutputModes: ['image/png'] }, {}, '/defaultOutputModes', ['image/png']],
    ['shaman', { provider: { name: 'ACME Gold' } }, {}, '/provider/organization', 'ACME Gold'],
    ['1.0', { securityRequirements: [] }, {}, '/securityRequirements', []],
  ])('%s', (dialect, extended, _, place, expected) => {
    const { extended: cards } = compileCard({ card: completeCards[dialect] as Json, extended })
    expect(getValue(cards[0]?.documents['1.0'] ?? null, place)).toStrictEqual(expected)
  })

  it.each<[string, JsonObject, JsonObject, Json]>([
    [
      'security',
      { securityRequirements: [] },
      { security: [{ a: [] }] },
      { securityRequirements: [{ schemes: { a: { list: [] } } }] },
    ],
    [
      'modes',
      { defaultOutputModes: ['text/plain'] },
      { supportedOutputModes: ['image/png'] },
      { defaultOutputModes: ['image/png'] },
    ],
    [
      'spelling',
      { documentationUrl: 'https://d.example' },
      { documentation_url: 'https://e.example' },
      { documentationUrl: 'https://e.example' },
    ],
  ])('counts where the card has another word for the same: %s', (_, more, extended, expected) => {
    expect(cardsOf({ card: { ...card, ...more }, extended }).base).toMatchObject(expected as JsonObject)
  })

  it('that is wrong is told of in its own word', () => {
    expect(
      getCompileErrors({
        card: { ...card, documentationUrl: 'https://d.example' },
        extended: { documentation_url: 'ftp://x' },
      }),
    ).toStrictEqual([{ pointer: '/extended/documentation_url', message: 'must be an http or https URL' }])
  })

  it('that is the card of Shaman comes back as it was written', () => {
    const extended = { additionalCapabilities: { debugMode: true }, rateLimits: { requestsPerMinute: 5 } }
    const { extended: cards } = compileCard({ card: completeCards.shaman as Json, extended })
    expect(cards[0]?.documents.shaman).toMatchObject(extended)
  })
})

describe('an overlay is refused', () => {
  const routing = 'belongs in the card itself: an extended card has the endpoints of the public one'
  const list = 'must be a list of skills: a skill with a known id changes that skill, any other is added'
  it.each<[string, JsonObject, string, string]>([
    ...[
      'url',
      'supportedInterfaces',
      'additional_interfaces',
      'preferredTransport',
      'protocol',
      'protocolVersion',
      'agentCard',
    ].map((name): [string, JsonObject, string, string] => [
      `that sets ${name}`,
      { extended: { [name]: 'x' } },
      `/extended/${name}`,
      routing,
    ]),
    ['that takes the address away', { tiers: { gold: { url: null } } }, '/tiers/gold/url', routing],
    ['that takes all skills away', { extended: { skills: null } }, '/extended/skills', list],
    ['with skills that are no list', { tiers: { gold: { skills: talk } } }, '/tiers/gold/skills', list],
    ['that takes the name away', { extended: { name: null } }, '/extended/name', 'is missing'],
    ['with a name of a wrong type', { tiers: { gold: { name: 5 } } }, '/tiers/gold/name', 'must be a string'],
    ['with a skill that is none', { extended: { skills: ['Sing', 5] } }, '/extended/skills/1', 'must be an object'],
    [
      'with a skill of a wrong type, in the place where it says so',
      { extended: { skills: [{ id: 'talk', tags: 5 }] }, tiers: { gold: { skills: [history] } } },
      '/extended/skills/0/tags',
      'must be a list of strings',
    ],
    [
      'with a skill of a wrong type in a tier',
      { extended: { skills: [history] }, tiers: { gold: { skills: [history, { id: 'new', name: 5 }] } } },
      '/tiers/gold/skills/1/name',
      'must be a string',
    ],
    [
      'that promises what calls do not get',
      { card: { ...card, capabilities: { streaming: false } }, extended: { capabilities: { streaming: true } } },
      '/extended/capabilities/streaming',
      'must be false, as in the public card: the gate checks calls against that card',
    ],
  ])('%s', (_, more, pointer, message) => {
    expect(getCompileErrors({ card: { ...card, skills: [talk] }, ...more })).toStrictEqual([{ pointer, message }])
  })

  it('that makes more skills than a card may have', () => {
    const skills = (name: string) => Array.from({ length: 300 }, (_, index) => ({ ...talk, id: `${name}${index}` }))
    expect(
      getCompileErrors({ card: { ...card, skills: skills('a') }, tiers: { gold: { skills: skills('b') } } }),
    ).toStrictEqual([{ pointer: '/tiers/gold/skills', message: 'has 600 skills; at most 500 are allowed' }])
  })

  it('where all extended cards together are too much', () => {
    const text = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`x${index}`, 'x'.repeat(16_000)]))
    const tiers = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`t${index}`, {}]))
    expect(getCompileErrors({ card: { ...card, ...text }, tiers })).toStrictEqual([
      {
        pointer: '/tiers',
        message: expect.stringMatching(/^makes extended cards of 13\d+ characters in all; at most 1048576/),
      },
    ])
  })

  it('but may promise more where the gate does not enforce capabilities', () => {
    const manifest = {
      card: { ...card, capabilities: { streaming: false } },
      extended: { capabilities: { streaming: true } },
    }
    expect(cardsOf({ ...manifest, gate: { capabilities: 'warn' } }).base).toMatchObject({
      capabilities: { streaming: true },
    })
  })
})

describe('who may ask for an extended card', () => {
  const bearer = { httpAuthSecurityScheme: { scheme: 'bearer' } }
  it.each<[string, JsonObject]>([
    ['nothing', {}],
    ['an empty map', { securitySchemes: {} }],
    ['schemes that are not HTTP’s', { authentication: { schemes: ['x402'] } }],
  ])('is told to bring a bearer token where the author says %s, in the public card too', (_, more) => {
    const { card: served, extended, report } = compileCard({ card: { ...card, ...more }, extended: {} })
    expect([
      served.securitySchemes,
      extended[0]?.documents['1.0'].securitySchemes,
      served.securityRequirements,
    ]).toEqual([{ bearer }, { bearer }, undefined])
    expect(report.filled).toContainEqual({
      pointer: '/securitySchemes',
      message: 'set to {"bearer":{"type":"http","scheme":"bearer"}}: the extended card is for callers with a token',
    })
  })

  it.each<[string, JsonObject, string[]]>([
    ['a scheme', { securitySchemes: { key: { type: 'apiKey', name: 'X-Key', in: 'header' } } }, ['key']],
    ['one in snake_case', { security_schemes: { key: { type: 'apiKey', name: 'X-Key', in: 'header' } } }, ['key']],
    ['authentication that is HTTP’s', { authentication: { schemes: ['basic'] } }, ['basic']],
  ])('is told what the author says: %s', (_, more, names) => {
    const { card: served } = compileCard({ card: { ...card, ...more }, extended: {} })
    expect(Object.keys(served.securitySchemes ?? {})).toStrictEqual(names)
  })

  it('is told nothing where there is no extended card', () => {
    expect(compileCard({ card }).card.securitySchemes).toBeUndefined()
  })
})

describe('an extended card behind a gateway', () => {
  it('sends calls to this host, in every representation', () => {
    const { extended } = compileCard({ card, route: 'gateway', extended: { description: 'More' } })
    const text = JSON.stringify(extended)
    expect([text.includes('a.example'), text.includes('https://host.example/agents/weather/a2a')]).toEqual([
      false,
      true,
    ])
  })
})

describe('a signature', () => {
  const signatures = [{ protected: 'eyJ', signature: 'abc' }]
  const whole = completeCards['1.0'] as JsonObject
  const signed = (extendedAgentCard: boolean) => ({
    ...whole,
    capabilities: { ...(whole.capabilities as JsonObject), extendedAgentCard },
    signatures,
  })
  const signers = (manifest: Json) => {
    const { documents, extended } = compileCard(manifest)
    return [documents, ...extended.map(card => card.documents)].map(served => served['1.0'].signatures)
  }

  it('stays while what it was made over stays', () => {
    expect(signers({ card: signed(true), extended: {} })).toEqual([signatures, signatures])
  })

  it('is left out of an extended card that says something else, unless that brings its own', () => {
    const own = [{ protected: 'eyJ', signature: 'own' }]
    const tiers = { silver: {}, gold: { description: 'Gold', signatures: own } }
    expect(signers({ card: signed(true), extended: { description: 'More' }, tiers })).toEqual([
      signatures,
      undefined,
      undefined,
      own,
    ])
  })

  it('is left out of the public card where the host has to declare the extended one', () => {
    const { documents, report } = compileCard({ card: signed(false), extended: {} })
    expect([documents['1.0'].signatures, report.dropped['1.0']]).toEqual([
      undefined,
      expect.arrayContaining(['/signatures']),
    ])
  })
})

describe('the report on overlays', () => {
  it('has what is filled, converted and found in them, with pointers into the manifest, once', () => {
    const { report } = compileCard({
      card: { ...card, skills: [talk] },
      extended: { skills: ['Sing', { name: 'Dance' }], apiKey: 'sk-abcdefgh12345678901234' },
      tiers: { gold: { skills: [history] }, silver: {} },
    })
    const within = ({ pointer }: { pointer: string }) => /^\/(?:extended|tiers)\//.test(pointer)
    expect([
      report.converted.filter(within),
      report.filled.filter(within).map(({ pointer }) => pointer),
      report.issues.filter(({ rule }) => rule === 'secret').map(({ pointer }) => pointer),
    ]).toStrictEqual([
      [{ pointer: '/extended/skills/0', message: 'a bare name, read as a skill' }],
      ['/extended/skills/1/id', '/extended/skills/1/description', '/extended/skills/1/tags'],
      ['/extended/apiKey'],
    ])
  })
})

describe('an overlay with two names of one field', () => {
  const modes = { defaultInputModes: ['text/plain'], default_input_modes: ['image/png'] }
  const error = (pointer: string) => ({
    pointer,
    message: 'is another spelling of `defaultInputModes`, which has another value here: keep one of them',
  })

  it.each<[string, JsonObject]>([
    ['neither', {}],
    ['one of them', { defaultInputModes: ['text/html'] }],
    ['the other', { default_input_modes: ['text/html'] }],
    ['an alias of both', { supportedInputModes: ['text/html'] }],
  ])('is rejected if they are two spellings: the card has %s', (_, fields) => {
    for (const overlay of [modes, Object.fromEntries(Object.entries(modes).reverse())]) {
      const manifest = { card: { ...card, ...fields }, extended: overlay, tiers: { gold: overlay } }
      expect(getCompileErrors(manifest)).toStrictEqual([
        error('/extended/default_input_modes'),
        error('/tiers/gold/default_input_modes'),
      ])
      expect(
        getCompileErrors({ upstream: { card: 'https://a.example/card.json' }, card: overlay }, manifest.card),
      ).toStrictEqual([error('/card/default_input_modes')])
    }
  })

  it('is accepted if the spellings have one value', () => {
    const extended = { defaultInputModes: ['text/plain'], default_input_modes: ['text/plain'] }
    expect(cardsOf({ card, extended }).base?.defaultInputModes).toStrictEqual(['text/plain'])
  })

  it.each(['defaultInputModes', 'default_input_modes', 'supportedInputModes'])(
    'keeps both if they are aliases, as a card does, and the standard name counts: the card has %s',
    name => {
      for (const names of [
        ['defaultInputModes', 'supportedInputModes'],
        ['supportedInputModes', 'defaultInputModes'],
      ]) {
        const extended = Object.fromEntries(names.map(each => [each, [each === 'defaultInputModes' ? 'a/b' : 'c/d']]))
        const { extended: cards } = compileCard({ card: { ...card, [name]: ['text/html'] }, extended })
        expect(cards[0]?.documents['1.0'].defaultInputModes).toStrictEqual(['a/b'])
        expect(cards[0]?.documents['agent-card.json'].supportedInputModes).toStrictEqual(['c/d'])
      }
    },
  )
})

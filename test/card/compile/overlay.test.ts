import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, compileTiers, getCompileErrors } from '../../support/cards/compile.ts'
import { completeCards } from '../../support/cards/complete.ts'
import { getValue } from '../../support/cards/pointers.ts'

const talk = { id: 'talk', name: 'Talk', description: 'Talks', tags: ['talk'], examples: ['Hello'] }
const history = { id: 'history', name: 'History', description: 'Remembers', tags: ['past'] }

const compileTierSkills = (manifest: Json) =>
  Object.fromEntries(Object.entries(compileTiers(manifest)).map(([tier, { skills }]) => [tier, skills]))

describe('a list of skills in an overlay', () => {
  it.each<[string, Json | undefined, Json, Json]>([
    ['adds a new id', [talk], [history], [talk, history]],
    [
      'merges the members of a known id',
      [talk],
      [{ id: 'talk', name: 'Speak', examples: null }],
      [{ id: 'talk', name: 'Speak', description: 'Talks', tags: ['talk'] }],
    ],
    ['removes no skill with an empty list', [talk], [], [talk]],
    ['changes nothing with the bare name of a known skill', [talk], ['Talk'], [talk]],
    [
      'adds a bare name',
      [talk],
      ['Sing'],
      [talk, { id: 'sing', name: 'Sing', description: 'Sing', tags: ['general'] }],
    ],
    [
      'adds members to a skill that was a bare name',
      ['Talk'],
      [{ id: 'talk', tags: ['t'] }],
      [{ id: 'talk', name: 'Talk', description: 'Talk', tags: ['t'] }],
    ],
    [
      'matches a skill without an id by the slug of its name',
      [{ name: 'Book Order' }],
      [
        { id: 'book-order', description: 'Books' },
        { name: 'Book Order', tags: ['orders'] },
      ],
      [{ name: 'Book Order', id: 'book-order', description: 'Books', tags: ['orders'] }],
    ],
    [
      'never removes an id',
      [{ ...talk, id: 'talk' }],
      [{ id: null, name: 'talk', tags: ['t'] }],
      [{ ...talk, name: 'talk', tags: ['t'] }],
    ],
    [
      'merges into the default skill too',
      undefined,
      [{ id: 'main', tags: ['m'] }, history],
      [{ id: 'main', name: 'A', description: 'B', tags: ['m'] }, history],
    ],
  ])('%s', (_, skills, overlaySkills, expected) => {
    const manifest = { card: { ...card, ...(skills && { skills }) }, extended: { skills: overlaySkills } }
    expect(compileTierSkills(manifest).base).toEqual(expected)
  })

  it('of a tier is merged over that of `extended`', () => {
    expect(
      compileTierSkills({
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
    ).toEqual({ base: [talk, history], gold: [talk, { ...history, tags: ['gold'] }, { ...history, id: 'more' }] })
  })
})

describe('the fields of an overlay', () => {
  it.each<[string, JsonObject, string, Json]>([
    [
      '0.3',
      { securitySchemes: { x: { type: 'http', scheme: 'basic' } } },
      '/securitySchemes/x',
      { httpAuthSecurityScheme: { scheme: 'basic' } },
    ],
    ['gopherhole', { supportedOutputModes: ['image/png'] }, '/defaultOutputModes', ['image/png']],
    ['shaman', { provider: { name: 'ACME Gold' } }, '/provider/organization', 'ACME Gold'],
    ['1.0', { securityRequirements: [] }, '/securityRequirements', []],
  ])('may be those of the dialect %s', (dialect, extended, pointer, expected) => {
    const { extended: cards } = compileCard({ card: completeCards[dialect] as Json, extended })
    expect(getValue(cards[0]?.documents['1.0'] ?? null, pointer)).toStrictEqual(expected)
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
  ])('replace the alias that the card has: %s', (_, fields, extended, expected) => {
    expect(compileTiers({ card: { ...card, ...fields }, extended }).base).toMatchObject(expected as JsonObject)
  })

  it('have their own names in errors', () => {
    expect(
      getCompileErrors({
        card: { ...card, documentationUrl: 'https://d.example' },
        extended: { documentation_url: 'https://<x>' },
      }),
    ).toStrictEqual([{ pointer: '/extended/documentation_url', message: 'must be a valid URL' }])
  })

  it('are preserved in the Shaman representation of a Shaman card', () => {
    const extended = { additionalCapabilities: { debugMode: true }, rateLimits: { requestsPerMinute: 5 } }
    const { extended: cards } = compileCard({ card: completeCards.shaman as Json, extended })
    expect(cards[0]?.documents.shaman).toMatchObject(extended)
  })
})

describe('an overlay', () => {
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
      `it sets ${name}`,
      { extended: { [name]: 'x' } },
      `/extended/${name}`,
      routing,
    ]),
    ['it removes the URL', { tiers: { gold: { url: null } } }, '/tiers/gold/url', routing],
    ['it removes all skills', { extended: { skills: null } }, '/extended/skills', list],
    ['its skills are not a list', { tiers: { gold: { skills: talk } } }, '/tiers/gold/skills', list],
    ['it removes the name', { extended: { name: null } }, '/extended/name', 'is missing'],
    ['its name has a wrong type', { tiers: { gold: { name: 5 } } }, '/tiers/gold/name', 'must be a string'],
    ['one of its skills is a number', { extended: { skills: ['Sing', 5] } }, '/extended/skills/1', 'must be an object'],
    [
      'a skill of `extended` has a member of a wrong type',
      { extended: { skills: [{ id: 'talk', tags: 5 }] }, tiers: { gold: { skills: [history] } } },
      '/extended/skills/0/tags',
      'must be a list of strings',
    ],
    [
      'a skill of a tier has a member of a wrong type',
      { extended: { skills: [history] }, tiers: { gold: { skills: [history, { id: 'new', name: 5 }] } } },
      '/tiers/gold/skills/1/name',
      'must be a string',
    ],
    [
      'it declares a capability that the gate rejects',
      { card: { ...card, capabilities: { streaming: false } }, extended: { capabilities: { streaming: true } } },
      '/extended/capabilities/streaming',
      'must be false, as in the public card: the gate checks calls against that card',
    ],
  ])('is rejected if %s', (_, fields, pointer, message) => {
    expect(getCompileErrors({ card: { ...card, skills: [talk] }, ...fields })).toStrictEqual([{ pointer, message }])
  })

  it('is rejected if its card has too many skills', () => {
    const skills = (name: string) => Array.from({ length: 300 }, (_, index) => ({ ...talk, id: `${name}${index}` }))
    expect(
      getCompileErrors({ card: { ...card, skills: skills('a') }, tiers: { gold: { skills: skills('b') } } }),
    ).toStrictEqual([{ pointer: '/tiers/gold/skills', message: 'has 600 skills; at most 500 are allowed' }])
  })

  it('is rejected if all extended cards together are too large', () => {
    const text = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`x${index}`, 'x'.repeat(16_000)]))
    const tiers = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`t${index}`, {}]))
    expect(getCompileErrors({ card: { ...card, ...text }, tiers })).toStrictEqual([
      {
        pointer: '/tiers',
        message: expect.stringMatching(/^makes extended cards of 13\d+ characters in all; at most 1048576/),
      },
    ])
  })

  it('may declare more capabilities if the gate does not enforce them', () => {
    const manifest = {
      card: { ...card, capabilities: { streaming: false } },
      extended: { capabilities: { streaming: true } },
    }
    expect(compileTiers({ ...manifest, gate: { capabilities: 'warn' } }).base).toMatchObject({
      capabilities: { streaming: true },
    })
  })
})

describe('an overlay with two names of one field', () => {
  const modes = { defaultInputModes: ['text/plain'], default_input_modes: ['image/png'] }
  const makeError = (pointer: string) => ({
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
        makeError('/extended/default_input_modes'),
        makeError('/tiers/gold/default_input_modes'),
      ])
      expect(
        getCompileErrors({ upstream: { card: 'https://a.example/card.json' }, card: overlay }, manifest.card),
      ).toStrictEqual([makeError('/card/default_input_modes')])
    }
  })

  it('is accepted if the spellings have one value', () => {
    const extended = { defaultInputModes: ['text/plain'], default_input_modes: ['text/plain'] }
    expect(compileTiers({ card, extended }).base?.defaultInputModes).toStrictEqual(['text/plain'])
  })

  it.each(['defaultInputModes', 'default_input_modes', 'supportedInputModes'])(
    'keeps both if they are aliases, and the standard name takes precedence: the card has %s',
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

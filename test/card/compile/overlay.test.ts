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
  it('adds skills, and merges members into those that it names', () => {
    const main = { id: 'main', name: 'A', description: 'B', tags: ['m'] }
    const bookOrder = { name: 'Book Order', id: 'book-order', description: 'Books', tags: ['orders'] }
    const speak = { id: 'talk', name: 'Speak', description: 'Talks', tags: ['talk'] }
    const rows: [skills: Json[] | undefined, overlay: Json[], expected: Json[]][] = [
      [[talk], [history], [talk, history]],
      [[talk], [{ id: 'talk', name: 'Speak', examples: null }], [speak]],
      // Bare names, as skills and as changes of them.
      [[talk], ['Talk'], [talk]],
      [[talk], ['Sing'], [talk, { id: 'sing', name: 'Sing', description: 'Sing', tags: ['general'] }]],
      [['Talk'], [{ id: 'talk', tags: ['t'] }], [{ id: 'talk', name: 'Talk', description: 'Talk', tags: ['t'] }]],
      // A skill without an id is matched by the slug of its name.
      [
        [{ name: 'Book Order' }],
        [
          { id: 'book-order', description: 'Books' },
          { name: 'Book Order', tags: ['orders'] },
        ],
        [bookOrder],
      ],
      [[talk], [{ id: null, name: 'talk', tags: ['t'] }], [{ ...talk, name: 'talk', tags: ['t'] }]],
      // The default skill.
      [undefined, [{ id: 'main', tags: ['m'] }, history], [main, history]],
    ]
    for (const [skills, overlay, expected] of rows) {
      const manifest = { card: { ...card, ...(skills && { skills }) }, extended: { skills: overlay } }
      expect([overlay, compileTierSkills(manifest).base]).toEqual([overlay, expected])
    }
  })

  it('of a tier is merged over that of `extended`', () => {
    const gold = [
      { id: 'history', tags: ['gold'] },
      { ...history, id: 'more' },
    ]
    expect(
      compileTierSkills({
        card: { ...card, skills: [talk] },
        extended: { skills: [history] },
        tiers: { gold: { skills: gold } },
      }),
    ).toEqual({ base: [talk, history], gold: [talk, { ...history, tags: ['gold'] }, { ...history, id: 'more' }] })
  })
})

describe('the fields of an overlay', () => {
  it('may be those of the dialect', () => {
    const basic = { securitySchemes: { x: { type: 'http', scheme: 'basic' } } }
    const rows: [dialect: string, extended: JsonObject, pointer: string, expected: Json][] = [
      ['0.3', basic, '/securitySchemes/x', { httpAuthSecurityScheme: { scheme: 'basic' } }],
      ['gopherhole', { supportedOutputModes: ['image/png'] }, '/defaultOutputModes', ['image/png']],
      ['shaman', { provider: { name: 'ACME Gold' } }, '/provider/organization', 'ACME Gold'],
    ]
    for (const [dialect, extended, pointer, expected] of rows) {
      const { extended: cards } = compileCard({ card: completeCards[dialect] as Json, extended })
      expect(getValue(cards[0]?.documents['1.0'] ?? null, pointer)).toStrictEqual(expected)
    }
  })

  it('replace the alias that the card has', () => {
    const rows: [card: JsonObject, extended: JsonObject, expected: JsonObject][] = [
      [
        { securityRequirements: [] },
        { security: [{ a: [] }] },
        { securityRequirements: [{ schemes: { a: { list: [] } } }] },
      ],
      [
        { defaultOutputModes: ['text/plain'] },
        { supportedOutputModes: ['image/png'] },
        { defaultOutputModes: ['image/png'] },
      ],
      [
        { documentationUrl: 'https://d.example' },
        { documentation_url: 'https://e.example' },
        { documentationUrl: 'https://e.example' },
      ],
    ]
    for (const [fields, extended, expected] of rows)
      expect(compileTiers({ card: { ...card, ...fields }, extended }).base).toMatchObject(expected)
  })
})

describe('an overlay', () => {
  const routing = 'belongs in the card itself: an extended card has the endpoints of the public one'
  const list = 'must be a list of skills: a skill with a known id changes that skill, any other is added'
  it('is rejected with the place of what it must not set, or sets to a wrong value', () => {
    const endpoints = ['url', 'supportedInterfaces', 'additional_interfaces', 'preferredTransport', 'protocol']
    for (const name of [...endpoints, 'protocolVersion', 'agentCard'])
      expect(getCompileErrors({ card, extended: { [name]: 'x' } })).toStrictEqual([
        { pointer: `/extended/${name}`, message: routing },
      ])
    const capability = {
      card: { ...card, capabilities: { streaming: false } },
      extended: { capabilities: { streaming: true } },
    }
    const asPublic = 'must be false, as in the public card: the gate checks calls against that card'
    const gold = (overlay: JsonObject) => ({ tiers: { gold: overlay } })
    const rows: [manifest: JsonObject, pointer: string, message: string][] = [
      [{ extended: { documentation_url: 'https://<x>' } }, '/extended/documentation_url', 'must be a valid URL'],
      [gold({ url: null }), '/tiers/gold/url', routing],
      [{ extended: { skills: null } }, '/extended/skills', list],
      [gold({ skills: talk }), '/tiers/gold/skills', list],
      [{ extended: { name: null } }, '/extended/name', 'is missing'],
      [gold({ name: 5 }), '/tiers/gold/name', 'must be a string'],
      [{ extended: { skills: ['Sing', 5] } }, '/extended/skills/1', 'must be an object'],
      [
        { extended: { skills: [{ id: 'talk', tags: 5 }] }, ...gold({ skills: [history] }) },
        '/extended/skills/0/tags',
        'must be a list of strings',
      ],
      [
        { extended: { skills: [history] }, ...gold({ skills: [history, { id: 'new', name: 5 }] }) },
        '/tiers/gold/skills/1/name',
        'must be a string',
      ],
      [capability, '/extended/capabilities/streaming', asPublic],
    ]
    for (const [fields, pointer, message] of rows)
      expect(getCompileErrors({ card: { ...card, skills: [talk] }, ...fields })).toStrictEqual([{ pointer, message }])
    // The gate may not enforce them.
    expect(compileTiers({ ...capability, gate: { capabilities: 'warn' } }).base).toMatchObject(capability.extended)
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
        message: expect.stringMatching(/^makes extended cards of 13\d+ characters; at most 1048576/),
      },
    ])
  })
})

describe('an overlay with two names of one field', () => {
  const modes = { defaultInputModes: ['text/plain'], default_input_modes: ['image/png'] }
  const makeError = (pointer: string) => ({
    pointer,
    message: 'is another spelling of `defaultInputModes`, which has another value here: keep one of them',
  })

  it('is rejected if they are two spellings, whatever the card has', () => {
    const html = ['text/html']
    const cards = [{}, { defaultInputModes: html }, { supportedInputModes: html }]
    for (const fields of cards)
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

  it('keeps both if they are aliases, and the standard name takes precedence', () => {
    const values = { defaultInputModes: ['a/b'], supportedInputModes: ['c/d'] }
    for (const name of ['defaultInputModes', 'default_input_modes', 'supportedInputModes'])
      for (const extended of [values, Object.fromEntries(Object.entries(values).reverse())]) {
        const { extended: cards } = compileCard({ card: { ...card, [name]: ['text/html'] }, extended })
        expect(cards[0]?.documents['1.0'].defaultInputModes).toStrictEqual(['a/b'])
        expect(cards[0]?.documents['agent-card.json'].supportedInputModes).toStrictEqual(['c/d'])
      }
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors, registration } from '../../support/cards/compile.ts'
import { authoredCard } from '../../support/cards/generated.ts'
import { isFasterThan } from '../../support/cpu-time.ts'

const getErrors = (text: string) => getCompileErrors((parseJson(text) as { value: Json }).value)

describe('a document', () => {
  it.each([
    ['__proto__', '{"name":"A","__proto__":{"x":1}}', '/__proto__'],
    ['constructor', '{"card":{"skills":[{"constructor":1}]}}', '/card/skills/0/constructor'],
    ['prototype', '{"prototype":{}}', '/prototype'],
  ])('is rejected with a member named %s', (name, text, pointer) => {
    expect(getErrors(text)).toStrictEqual([{ pointer, message: `"${name}" is not allowed as a name` }])
  })

  it.each<[string, Json, string, string]>([
    [
      'a string over 16 KiB',
      { ...card, x: ['a'.repeat(16_385)] },
      '/x/0',
      'is 16385 characters long; at most 16384 are allowed',
    ],
    [
      'a name over 16 KiB',
      { ...card, [`${'a'.repeat(16_385)}`]: 1 },
      '',
      'is 16385 characters long; at most 16384 are allowed',
    ],
    [
      'names that together are too long for a report',
      { ...card, [`x${'a'.repeat(510)}`]: { [`x${'b'.repeat(511)}`]: 1 } },
      '',
      'has a JSON Pointer of 1025 characters; at most 1024 are allowed: shorten the names that lead to it',
    ],
    ['a NUL character', { ...card, x: 'a\0b' }, '/x', 'contains a NUL character'],
    ['a lone surrogate', { ...card, x: '\uD800' }, '/x', 'contains a lone surrogate, so it is not valid Unicode text'],
    [
      'a number that JSON cannot represent',
      { ...card, x: Number.POSITIVE_INFINITY },
      '/x',
      'is too large for a number in JSON',
    ],
  ])('is rejected with %s', (_, document, pointer, message) => {
    expect(getCompileErrors(document)).toStrictEqual([{ pointer, message }])
  })

  it('is rejected where it nests deeper than the limit, though it was not parsed from JSON', () => {
    const deep = Array.from({ length: 100_000 }).reduce<Json>(inner => ({ a: inner }), 1)
    expect(getCompileErrors(deep)).toStrictEqual([{ pointer: '/a'.repeat(64), message: 'nests deeper than 64 levels' }])
  })

  it.each([
    'javascript:alert(1)',
    ' JavaScript:x',
    'java\tscript:x',
    'javascript\r\n:x',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
  ])('is rejected with the URL %j in any field', url => {
    const message = 'must be an http or https URL, not one that runs code or reads local data'
    const pointers = ['/url', '/iconUrl', '/provider/url', '/x/links/0', '/icon']
    const document = { ...card, url, iconUrl: url, provider: { url }, x: { links: [url] }, icon: url }
    expect(getCompileErrors(document)).toStrictEqual(pointers.map(pointer => ({ pointer, message })))
  })

  it('is rejected with a password in a URL', () => {
    const url = 'https://me:secret@a.example'
    const message = 'must not contain a user name or password'
    expect(getCompileErrors({ ...card, url, documentationUrl: url })).toStrictEqual([
      { pointer: '/url', message },
      { pointer: '/documentationUrl', message },
    ])
  })
})

describe('the URL of an endpoint', () => {
  const placeholder = "looks like a placeholder: replace it with the agent's URL, such as https://agent.example.com/a2a"
  const relative = 'is relative: it must be absolute, such as https://agent.example.com/a2a'
  const other = 'must be an absolute URL with http or https, such as https://agent.example.com/a2a'
  it.each([
    ['{{BASE_URL}}', placeholder],
    ['https://<HOST>/', placeholder],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an unfilled placeholder of a template
    ['${BASE_URL}/a2a', placeholder],
    ['YOUR_AGENT_URL', placeholder],
    ['/api/a2a', relative],
    ['agent.example.com/a2a', relative],
    ['grpc://agent.example.com', other],
    ['ftp://agent.example.com', other],
    ['https://', other],
    ['https://a b.example', other],
    ['https://a.example/\r\nX-Evil: 1', other],
  ])('is rejected where it is %j', (url, message) => {
    expect([
      getCompileErrors({ ...card, url }),
      getCompileErrors({ ...card, url: undefined as never, supportedInterfaces: [{ url }] }),
    ]).toStrictEqual([[{ pointer: '/url', message }], [{ pointer: '/supportedInterfaces/0/url', message }]])
  })

  it.each([
    ['missing', { name: 'A', description: 'B' }, '/url'],
    ['null', { ...card, url: null }, '/url'],
    ['in an empty list', { name: 'A', description: 'B', supportedInterfaces: [] }, '/supportedInterfaces'],
  ])('is requested of the card or the manifest where it is %s', (_, document, pointer) => {
    expect(getCompileErrors(document)).toStrictEqual([
      { pointer, message: "is missing: add the agent's `url` to the card, or `upstream.url` to the manifest" },
    ])
  })
})

describe('a text', () => {
  it.each(['\r', '\n', '\u0085', '\u001b'])('of one line is rejected with %j', control => {
    const document = {
      ...card,
      name: `A${control}B`,
      skills: [{ id: 's', name: `A${control}B`, description: 'C', tags: ['d'] }],
    }
    const message = 'must be one line, without control characters'
    expect(getCompileErrors(document)).toStrictEqual([
      { pointer: '/name', message },
      { pointer: '/skills/0/name', message },
    ])
  })

  it('of a description may have several lines', () => {
    expect(compileCard({ ...card, description: 'One\nTwo' }).card.description).toBe('One\nTwo')
  })
})

describe('skills', () => {
  it('are rejected where two have the same id', () => {
    expect(
      getCompileErrors({
        ...card,
        skills: [
          { id: 'a', name: 'A' },
          { id: 'b', name: 'B' },
          { id: 'a', name: 'C' },
        ],
      }),
    ).toStrictEqual([
      { pointer: '/skills/2/id', message: 'repeats the id "a" of /skills/0: give each skill its own id' },
    ])
  })

  it('without ids each get a new one', () => {
    const skills = [{ name: 'Do It' }, { id: 'do-it', name: 'B' }, { name: 'do it' }, 'Do it!']
    expect(compileCard({ ...card, skills }).card.skills.map(skill => skill.id)).toStrictEqual([
      'do-it-2',
      'do-it',
      'do-it-3',
      'do-it-4',
    ])
  })

  it.each(['inputModes', 'outputModes'])('have at most 200 different %s, with those of the card', name => {
    const defaults = { defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] }
    const withModes = (...lists: string[][]) => ({
      ...card,
      ...defaults,
      skills: lists.map((modes, index) => ({ id: `s${index}`, name: 'S', [name]: modes })),
    })
    const modes = Array.from({ length: 199 }, (_, index) => `a/b${index}`)
    expect(compileCard(withModes(modes, modes, ['text/plain'])).card.skills).toHaveLength(3)
    expect(getCompileErrors(withModes(modes, modes, ['a/b200']))).toStrictEqual([
      {
        pointer: `/skills/2/${name}`,
        message: `brings the card to more than 200 different ${name.replace('Modes', '')} modes, the limit: use ranges such as "image/*"`,
      },
    ])
  })

  it('are limited to 500', () => {
    const skills = Array.from({ length: 501 }, () => 'Same')
    expect(compileCard({ ...card, skills: skills.slice(1) }).card.skills).toHaveLength(500)
    expect(getCompileErrors({ ...card, skills })).toStrictEqual([
      { pointer: '/skills', message: 'has 501 skills; at most 500 are allowed' },
    ])
  })
})

describe('the size of a document', () => {
  const makeList = (length: number, makeItem: (index: number) => Json): Json =>
    Array.from({ length }, (_, index) => makeItem(index))
  const makeMembers = (length: number, value: Json) =>
    Object.fromEntries(Array.from({ length }, (_, index) => [`f${index}`, value]))

  it.each<[string, JsonObject, string]>([
    [
      '/additionalInterfaces',
      { additionalInterfaces: makeList(130_000, () => 0) },
      'has 130000 interfaces; at most 100',
    ],
    [
      '/supportedInterfaces',
      { supportedInterfaces: makeList(60_000, () => ({})) },
      'has 60000 interfaces; at most 100',
    ],
    ['/additional_interfaces', { additional_interfaces: makeList(101, () => 0) }, 'has 101 interfaces; at most 100'],
    ['/signatures', { signatures: makeList(80_000, () => ({})) }, 'has 80000 items; at most 1000'],
    ['/security', { security: makeList(15_000, index => ({ [`s${index}`]: [] })) }, 'has 15000 items; at most 1000'],
    ['', makeMembers(25_000, 0), 'has 25003 members; at most 1000'],
    ['/capabilities', { capabilities: makeMembers(15_000, true) }, 'has 15000 members; at most 1000'],
    ['/agentcard', { exposed: true, agentcard: makeMembers(15_000, 0) }, 'has 15000 members; at most 1000'],
    ['/x/0/y', { x: [{ y: makeList(1001, () => 0) }] }, 'has 1001 items; at most 1000'],
  ])('is limited at %j, and rejected quickly', (pointer, fields, message) => {
    expect(getCompileErrors({ ...card, ...fields })).toStrictEqual([{ pointer, message: `${message} are allowed` }])
    expect(isFasterThan(200, () => getCompileErrors({ ...card, ...fields }))).toBe(true)
  })

  it('may reach the limits', () => {
    const additionalInterfaces = makeList(100, index => ({ url: `https://a.example/${index}`, transport: 'GRPC' }))
    const { card: read } = compileCard({
      ...card,
      additionalInterfaces,
      x: makeList(1000, () => 0),
      y: makeMembers(1000, 0),
    })
    expect(read.supportedInterfaces).toHaveLength(101)
  })
})

describe('a required field', () => {
  it.each([
    [{ url: card.url }, ['/name', '/description']],
    [{ ...card, name: '' }, ['/name']],
    [{ ...card, skills: [{}] }, ['/skills/0/id', '/skills/0/name', '/skills/0/description']],
  ])('is reported where it is missing: %j', (document, pointers) => {
    expect(getCompileErrors(document).map(error => error.pointer)).toStrictEqual(pointers)
  })

  it.each<[string, Json]>([
    ['null', null],
    ['a list', []],
    ['a string', 'card'],
    ['a number', 1],
  ])('is not looked for where the document is %s', (_, document) => {
    expect(getCompileErrors(document)).toStrictEqual([{ pointer: '', message: expect.stringContaining('JSON object') }])
  })
})

describe('a name of a member of Object.prototype', () => {
  it.each(['toString', 'valueOf', 'hasOwnProperty'])('is a plain name, and a plain value: %s', name => {
    const document = {
      ...card,
      [name]: 'x',
      capabilities: { [name]: true },
      preferredTransport: name,
      securitySchemes: { [name]: { type: name } },
      skills: [{ id: name, name, [name]: 1 }],
    }
    const { documents, report } = compileCard(document)
    expect([documents['agent-card.json'][name], report.dropped['1.0']]).toStrictEqual([
      'x',
      [`/${name}`, `/capabilities/${name}`, `/securitySchemes/${name}`, `/skills/0/${name}`],
    ])
  })
})

describe('compile', () => {
  const document = fc.oneof(
    fc.jsonValue(),
    authoredCard,
    fc.tuple(authoredCard, fc.string(), fc.jsonValue()).map(([base, name, value]) => ({ ...base, [name]: value })),
  )
  it('never throws: it compiles a document or returns errors, each with a message', () => {
    fc.assert(
      fc.property(document, generated => {
        const result = compile(JSON.parse(JSON.stringify(generated)), registration)
        if ('errors' in result) {
          expect(result.errors.length).toBeGreaterThan(0)
          expect(result.errors.filter(error => error.message === '')).toStrictEqual([])
        }
      }),
    )
  })
})

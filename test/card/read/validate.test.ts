import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { shortCard as card } from '../../support/cards/cards.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { isFasterThan } from '../../support/cpu-time.ts'

const getErrors = (text: string) => getCompileErrors((parseJson(text) as { value: Json }).value)

describe('a document', () => {
  it('is rejected with a member of a forbidden name', () => {
    const rows: [name: string, text: string, pointer: string][] = [
      ['__proto__', '{"name":"A","__proto__":{"x":1}}', '/__proto__'],
      ['constructor', '{"card":{"skills":[{"constructor":1}]}}', '/card/skills/0/constructor'],
      ['prototype', '{"prototype":{}}', '/prototype'],
    ]
    for (const [name, text, pointer] of rows)
      expect(getErrors(text)).toStrictEqual([{ pointer, message: `"${name}" is not allowed as a name` }])
  })

  it('is rejected with texts and numbers that are too long or not valid', () => {
    const tooLong = 'is 16385 characters long; at most 16384 are allowed'
    const rows: [JsonObject, pointer: string, message: string][] = [
      [{ x: ['a'.repeat(16_385)] }, '/x/0', tooLong],
      [{ ['a'.repeat(16_385)]: 1 }, '', tooLong],
      [
        { [`x${'a'.repeat(510)}`]: { [`x${'b'.repeat(511)}`]: 1 } },
        '',
        'has a JSON Pointer of 1025 characters; at most 1024 are allowed: shorten the names that lead to it',
      ],
      [{ x: 'a\0b' }, '/x', 'contains a NUL character'],
      [{ x: '\uD800' }, '/x', 'contains a lone surrogate, so it is not valid Unicode text'],
      [{ x: Number.POSITIVE_INFINITY }, '/x', 'is too large for a number in JSON'],
    ]
    for (const [fields, pointer, message] of rows)
      expect(getCompileErrors({ ...card, ...fields })).toStrictEqual([{ pointer, message }])
  })

  it('is rejected where it nests deeper than the limit, though it was not parsed from JSON', () => {
    const deep = Array.from({ length: 100_000 }).reduce<Json>(inner => ({ a: inner }), 1)
    expect(getCompileErrors(deep)).toStrictEqual([{ pointer: '/a'.repeat(64), message: 'nests deeper than 64 levels' }])
  })

  it('is rejected with a URL that runs code or reads data, in any field', () => {
    const urls = [' JavaScript:x', 'java\tscript:x', 'data:text/html,x', 'file:///etc/passwd', 'vbscript:x']
    const message = 'must be an http or https URL, not one that runs code or reads local data'
    const pointers = ['/url', '/iconUrl', '/provider/url', '/x/links/0', '/icon']
    for (const url of urls) {
      const document = { ...card, url, iconUrl: url, provider: { url }, x: { links: [url] }, icon: url }
      expect(getCompileErrors(document)).toStrictEqual(pointers.map(pointer => ({ pointer, message })))
    }
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
  it('is rejected where it is not absolute, or not of http', () => {
    const rows = {
      '{{BASE_URL}}': placeholder,
      YOUR_AGENT_URL: placeholder,
      '/api/a2a': relative,
      'agent.example.com/a2a': relative,
      'grpc://agent.example.com': other,
      'https://a.example/\r\nX-Evil: 1': other,
    }
    for (const [url, message] of Object.entries(rows))
      expect([
        getCompileErrors({ ...card, url }),
        getCompileErrors({ ...card, url: undefined as never, supportedInterfaces: [{ url }] }),
      ]).toStrictEqual([[{ pointer: '/url', message }], [{ pointer: '/supportedInterfaces/0/url', message }]])
  })

  it('is requested of the card or the manifest where it is missing', () => {
    const message = "is missing: add the agent's `url` to the card, or `upstream.url` to the manifest"
    const described = { name: 'A', description: 'B' }
    expect(getCompileErrors(described)).toStrictEqual([{ pointer: '/url', message }])
    expect(getCompileErrors({ ...card, url: null })).toStrictEqual([{ pointer: '/url', message }])
    const pointer = '/supportedInterfaces'
    expect(getCompileErrors({ ...described, supportedInterfaces: [] })).toStrictEqual([{ pointer, message }])
  })
})

describe('a text', () => {
  it('of one line is rejected with a control character', () => {
    for (const control of ['\n', '\u0085']) {
      const name = `A${control}B`
      const message = 'must be one line, without control characters'
      const skills = [{ id: 's', name, description: 'C', tags: ['d'] }]
      expect(getCompileErrors({ ...card, name, skills })).toStrictEqual([
        { pointer: '/name', message },
        { pointer: '/skills/0/name', message },
      ])
    }
  })

  it('of a description may have several lines', () => {
    expect(compileCard({ ...card, description: 'One\nTwo' }).card.description).toBe('One\nTwo')
  })
})

describe('skills', () => {
  it('are rejected where two have the same id', () => {
    const skills = ['a', 'b', 'a'].map(id => ({ id, name: 'A' }))
    expect(getCompileErrors({ ...card, skills })).toStrictEqual([
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

  it('have at most 200 different modes, with those of the card', () => {
    const defaults = { defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] }
    const modes = Array.from({ length: 199 }, (_, index) => `a/b${index}`)
    for (const kind of ['input', 'output']) {
      const withModes = (...lists: string[][]) => ({
        ...card,
        ...defaults,
        skills: lists.map((list, index) => ({ id: `s${index}`, name: 'S', [`${kind}Modes`]: list })),
      })
      expect(compileCard(withModes(modes, modes, ['text/plain'])).card.skills).toHaveLength(3)
      expect(getCompileErrors(withModes(modes, modes, ['a/b200']))).toStrictEqual([
        {
          pointer: `/skills/2/${kind}Modes`,
          message: `brings the card to more than 200 different ${kind} modes, the limit: use ranges such as "image/*"`,
        },
      ])
    }
  })

  it('have the text of its input for an example that is an exchange of messages, as in Telex', () => {
    const text = (...texts: string[]) => ({ parts: texts.map(each => ({ kind: 'text', text: each })) })
    const examples = [
      'Plain',
      { input: text('robot', 'origin') },
      text('word'),
      { input: { text: 'bare' } },
      { input: { parts: [{ kind: 'data', data: 1 }] } },
    ]
    const { card: read, report } = compileCard({ ...card, skills: [{ id: 'a', name: 'A', examples }] } as JsonObject)
    expect(read.skills[0]?.examples).toEqual([
      'Plain',
      'robot\norigin',
      'word',
      'bare',
      '{"parts":[{"kind":"data","data":1}]}',
    ])
    expect(report.converted).toContainEqual({
      pointer: '/skills/0/examples/1',
      message: 'an exchange of messages, read as the text of its input',
    })
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

  it('is limited everywhere, and a larger one is rejected quickly', () => {
    const rows: [JsonObject, pointer: string, message: string][] = [
      [{ additional_interfaces: makeList(101, () => 0) }, '/additional_interfaces', '101 interfaces; at most 100'],
      [{ security: makeList(15_000, index => ({ [`s${index}`]: [] })) }, '/security', '15000 items; at most 1000'],
      [makeMembers(25_000, 0), '', '25003 members; at most 1000'],
      [{ exposed: true, agentcard: makeMembers(15_000, 0) }, '/agentcard', '15000 members; at most 1000'],
      [{ x: [{ y: makeList(1001, () => 0) }] }, '/x/0/y', '1001 items; at most 1000'],
    ]
    for (const [fields, pointer, message] of rows) {
      const document = { ...card, ...fields }
      expect(getCompileErrors(document)).toStrictEqual([{ pointer, message: `has ${message} are allowed` }])
      expect(
        isFasterThan(200, () => getCompileErrors(document)),
        pointer,
      ).toBe(true)
    }
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
  it('is reported where it is missing, unless the document is no object', () => {
    const rows: [JsonObject, string[]][] = [
      [{ url: card.url }, ['/name', '/description']],
      [{ ...card, name: '' }, ['/name']],
      [{ ...card, skills: [{}] }, ['/skills/0/id', '/skills/0/name', '/skills/0/description']],
    ]
    expect(rows.map(([document]) => [document, getCompileErrors(document).map(error => error.pointer)])).toEqual(rows)
    for (const document of [null, [], 'card', 1])
      expect(getCompileErrors(document)).toStrictEqual([
        { pointer: '', message: expect.stringContaining('JSON object') },
      ])
  })
})

it('a name of a member of Object.prototype is a plain name, and a plain value', () => {
  for (const name of ['toString', 'hasOwnProperty']) {
    const { documents, report } = compileCard({
      ...card,
      [name]: 'x',
      capabilities: { [name]: true },
      preferredTransport: name,
      securitySchemes: { [name]: { type: name } },
      skills: [{ id: name, name, [name]: 1 }],
    })
    expect([documents['agent-card.json'][name], report.dropped['1.0']]).toStrictEqual([
      'x',
      [`/${name}`, `/capabilities/${name}`, `/securitySchemes/${name}`, `/skills/0/${name}`],
    ])
  }
})

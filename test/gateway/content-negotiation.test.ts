import { describe, expect, it } from 'vitest'
import { type MessageFacts, readMessage } from '../../src/a2a/message.ts'
import type { A2ACall } from '../../src/a2a/operations.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import type { CallModes, Modes, WireVersion } from '../../src/card/model/calls.ts'
import { checkInputModes } from '../../src/gateway/content-negotiation.ts'
import { evaluatePolicy } from '../../src/gateway/policy.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { callWith, profileWith } from '../support/calls.ts'
import { cpuTime, growth, linear } from '../support/cpu-time.ts'

const passes = { warnings: [] }

const profileFor = (modes: Partial<Modes>, skills: CallProfile['modes']['skills'] = {}): CallProfile => {
  const defaults = { input: [], output: [], ...modes }
  const union = {
    input: [...defaults.input, ...Object.values(skills).flatMap(({ input = [] }) => input)],
    output: [...defaults.output, ...Object.values(skills).flatMap(({ output = [] }) => output)],
  }
  // What is no message is compared, too.
  const gate = { ...profileWith().gate, version: 'off' } as const
  return profileWith({ gate, modes: { defaults, union, skills } })
}

const versions: readonly (readonly [WireVersion, A2ACall['operation']])[] = [
  ['0.3', 'send'],
  ['0.3', 'stream'],
  ['1.0', 'send'],
  ['1.0', 'stream'],
]

/** Returns the verdict on a call with `params`, which must be the same in every version. */
const evaluateAll = (profile: CallProfile, params: JsonObject): unknown =>
  expectSame(versions.map(([version, operation]) => evaluatePolicy(callWith({ version, operation, params }), profile)))

const expectSame = (verdicts: readonly unknown[]): unknown => {
  for (const verdict of verdicts) expect(verdict).toStrictEqual(verdicts[0])
  return verdicts[0]
}

const accepting = (acceptedOutputModes: Json, skillId?: Json): JsonObject => ({
  message: { messageId: 'm', parts: [], ...(skillId !== undefined && { metadata: { skillId } }) },
  configuration: { acceptedOutputModes },
})

/** The output modes of the agent, those that the caller accepts, and whether they overlap. */
const outputs: readonly (readonly [agent: string[], caller: string[], overlaps: boolean])[] = [
  // The same, or not.
  [['text/plain'], ['text/plain'], true],
  [['text/plain'], ['image/png'], false],
  [['text/plain', 'application/json'], ['application/json'], true],
  [['text/plain'], ['image/png', 'text/plain'], true],
  [['text/plain', 'text/html'], ['image/png', 'image/jpeg'], false],
  [['application/vnd.acme.v2+json'], ['application/vnd.acme.v2+json'], true],
  // An empty list is no constraint.
  [[], ['image/png'], true],
  [['text/plain'], [], true],
  [[], [], true],
  // Case and white space.
  [['text/plain'], ['Text/PLAIN'], true],
  [['TEXT/Plain'], ['text/plain'], true],
  [['text/plain'], [' text/plain '], true],
  // Neither a prefix nor a suffix is the same.
  [['text/plain'], ['text/plainer'], false],
  [['text/plain'], ['text/p'], false],
  [['application/json'], ['application/ld+json'], false],
  [['application/ld+json'], ['application/json'], false],
  [['text/x.plain'], ['text/xaplain'], false],
  // The caller's wildcards.
  [['text/plain'], ['*/*'], true],
  [['text/plain'], ['*'], true],
  [['text/plain'], ['text/*'], true],
  [['text/plain'], ['image/*'], false],
  [['text/plain'], ['image/*', 'text/*'], true],
  [['texture/plain'], ['text/*'], false],
  [['application/json'], ['app*/json'], false],
  [['text/plain'], ['*/plain'], false],
  // The agent's.
  [['*/*'], ['image/png'], true],
  [['*'], ['image/png'], true],
  [['image/*'], ['image/png'], true],
  [['image/*'], ['text/plain'], false],
  [['image/*', 'text/*'], ['text/csv'], true],
  // Both.
  [['image/*'], ['image/*'], true],
  [['image/*'], ['*/*'], true],
  [['*/*'], ['image/*'], true],
  [['image/*'], ['text/*'], false],
  // Parameters, on one side or on both.
  [['text/plain'], ['text/plain;charset=utf-8'], true],
  [['text/plain; charset=utf-8'], ['text/plain'], true],
  [['text/plain;charset=utf-8'], ['text/plain; charset="UTF-8"'], true],
  [['text/plain;charset=utf-8'], ['text/plain;charset=iso-8859-1'], false],
  [['text/plain;charset=utf-8'], ['text/plain;format=flowed'], true],
  [['application/json;profile=a'], ['application/json;profile=b;version=1'], false],
  [['application/json;profile=a;version=1'], ['application/json;version=1'], true],
  [['text/plain;charset=utf-8'], ['text/*;charset=utf-8'], true],
  [['text/plain;charset=utf-8'], ['text/*;charset=latin1'], false],
  [['application/json;schema="a;b,c"'], ['application/json;schema="a;b,c"'], true],
  [['application/json;schema="a;b"'], ['application/json;schema="a;c"'], false],
  [['text/plain;'], ['text/plain'], true],
  // Quality: only q=0 counts.
  [['text/plain'], ['text/plain;q=0.1'], true],
  [['text/plain'], ['text/plain; q=1.0', 'image/png;q=0.5'], true],
  [['text/plain'], ['text/plain;q=0'], false],
  [['text/plain'], ['text/plain;q=0.000'], false],
  [['text/plain'], ['text/plain;Q=0'], false],
  [['text/plain'], ['*/*', 'text/plain;q=0'], false],
  [['text/plain'], ['text/plain;q=0', '*/*'], false],
  [['text/plain', 'image/png'], ['*/*', 'text/plain;q=0'], true],
  [['text/plain'], ['text/plain', '*/*;q=0'], true],
  [['image/png'], ['text/plain', '*/*;q=0'], false],
  [['text/plain'], ['text/*;q=0', '*/*'], false],
  [['text/plain'], ['text/plain', 'text/*;q=0'], true],
  [['text/plain'], ['text/*', '*/*;q=0'], true],
  [['text/html'], ['text/plain', 'text/*;q=0', '*/*'], false],
  [['text/plain'], ['text/plain', 'text/plain;q=0'], false],
  [['image/*'], ['image/*', 'image/png;q=0'], true],
  [['image/*'], ['*/*', 'image/*;q=0'], false],
  [['*/*'], ['*/*', 'image/png;q=0'], true],
  [['image/*'], ['image/png', 'image/png;q=0'], false],
  [['text/plain'], ['text/plain;charset=utf-8;q=0', 'text/plain'], true],
  [['text/plain;charset=utf-8'], ['text/plain;charset=utf-8;q=0', 'text/plain'], false],
  [['text/plain'], ['image/png;q=0'], false],
  [['text/plain'], ['text/plain;q=high'], true],
  // Words that are not media types, as cards contain them.
  [['text'], ['text'], true],
  [['text'], ['text/plain'], true],
  [['text'], ['text/markdown'], true],
  [['text/plain'], ['text'], true],
  [['Text'], ['TEXT'], true],
  [['text'], ['image/png'], false],
  [['image'], ['image/png'], true],
  [['audio'], ['video'], false],
  [['file'], ['file'], true],
  [['file'], ['text/plain'], false],
  [['file'], ['*/*'], true],
  [['text/plain'], ['markdown'], false],
  [['form-data'], ['form-data', 'image/png'], true],
  [['something else'], ['text/plain'], false],
  [['a/b/c', 'text/plain'], ['text/plain'], true],
  [[''], ['text/plain'], false],
]

describe('accepted output modes', () => {
  it.each(outputs)('of an agent with %j and a caller with %j overlap: %s', (agent, caller, overlaps) => {
    expect(evaluateAll(profileFor({ output: agent }), accepting(caller))).toStrictEqual(
      overlaps ? passes : { kind: 'output-modes', offered: caller, accepted: agent },
    )
  })

  it.each([
    ['a missing configuration', {}],
    ['a null configuration', { configuration: null }],
    ['a string as configuration', { configuration: 'image/png' }],
    ['an empty configuration', { configuration: {} }],
    ['null modes', { configuration: { acceptedOutputModes: null } }],
  ] as [string, JsonObject][])('do not constrain a call with %s', (_, params) => {
    expect(evaluateAll(profileFor({ output: ['text/plain'] }), params)).toStrictEqual(passes)
  })

  it('are also read in snake_case, which ProtoJSON allows', () => {
    const params = { configuration: { accepted_output_modes: ['image/png'] } }
    expect(evaluateAll(profileFor({ output: ['text/plain'] }), params)).toMatchObject({ kind: 'output-modes' })
  })

  it.each([
    [['text/plain'], ['image/png']],
    [['image/png'], ['text/plain']],
    [['text/plain'], []],
  ])('are rejected under both names: %j and %j', (acceptedOutputModes, accepted_output_modes) => {
    const field = 'configuration.accepted_output_modes'
    const description = 'is another name of `acceptedOutputModes`, which is also present: send one of them'
    expect(
      evaluateAll(profileFor({ output: ['text/plain'] }), {
        configuration: { acceptedOutputModes, accepted_output_modes },
      }),
    ).toStrictEqual({
      kind: 'invalid-params',
      detail: `\`${field}\` ${description}.`,
      violations: [{ field, description }],
    })
    const configuration = { acceptedOutputModes: null, accepted_output_modes: ['text/plain'] }
    expect(evaluateAll(profileFor({ output: ['text/plain'] }), { configuration })).toStrictEqual(passes)
  })

  it.each([
    ['text/plain', '', 'must be a list of media types'],
    [{ 0: 'text/plain' }, '', 'must be a list of media types'],
    [1, '', 'must be a list of media types'],
    [false, '', 'must be a list of media types'],
    [[null], '[0]', 'must be a string'],
    [['text/plain', 1], '[1]', 'must be a string'],
    [[['text/plain']], '[0]', 'must be a string'],
    [[''], '[0]', 'must be a media type or a range, such as "text/plain" or "image/*"'],
    [[' '], '[0]', 'must be a media type or a range, such as "text/plain" or "image/*"'],
    [['a/b/c'], '[0]', 'must be a media type or a range, such as "text/plain" or "image/*"'],
    [['text/'], '[0]', 'must be a media type or a range, such as "text/plain" or "image/*"'],
    [['/plain'], '[0]', 'must be a media type or a range, such as "text/plain" or "image/*"'],
    [['text/ plain'], '[0]', 'must be a media type or a range, such as "text/plain" or "image/*"'],
    [['text/plain, image/png'], '[0]', 'must be a media type or a range, such as "text/plain" or "image/*"'],
    [['text/plain', 'plain text'], '[1]', 'must be a media type or a range, such as "text/plain" or "image/*"'],
    [['text/pl\u0000ain'], '[0]', 'must be a media type or a range, such as "text/plain" or "image/*"'],
    [[`text/${'x'.repeat(300)}`], '[0]', 'must be a media type or a range, such as "text/plain" or "image/*"'],
    [[`text/plain;${'a=b;'.repeat(100)}`], '[0]', 'must be a media type or a range, such as "text/plain" or "image/*"'],
    [Array(101).fill('text/plain'), '', 'must be at most 100 media types'],
  ] as [Json, string, string][])('of %j are invalid parameters', (modes, at, description) => {
    const field = `configuration.acceptedOutputModes${at}`
    expect(evaluateAll(profileFor({ output: ['text/plain'] }), accepting(modes))).toStrictEqual({
      kind: 'invalid-params',
      detail: `\`${field}\` ${description}.`,
      violations: [{ field, description }],
    })
  })
})

describe('the output modes of a skill', () => {
  const profile = profileFor(
    { output: ['text/plain'] },
    { chart: { output: ['image/png'] }, listen: { input: ['audio/wav'] }, __proto__: {} },
  )

  it.each([
    ['no skill', undefined, ['image/png'], undefined],
    ['no skill, and a default mode', undefined, ['text/plain'], undefined],
    ['the skill', 'chart', ['image/png'], undefined],
    ['the skill, and a default mode', 'chart', ['text/plain'], ['image/png']],
    ['a skill without modes', 'listen', ['image/png'], ['text/plain']],
    ['a skill without modes, and a default mode', 'listen', ['text/plain'], undefined],
    ['an unknown skill', 'dance', ['image/png'], undefined],
    ['an unknown skill, and a mode of no skill', 'dance', ['video/mp4'], ['text/plain', 'image/png']],
    ['a number', 1, ['image/png'], undefined],
    ['an inherited property name', 'constructor', ['image/png'], undefined],
    ['the name of the prototype', '__proto__', ['image/png'], undefined],
  ] as [string, Json | undefined, string[], string[] | undefined][])(
    'apply to a message that names %s',
    (_, skill, requested, accepted) => {
      expect(evaluateAll(profile, accepting(requested, skill))).toStrictEqual(
        accepted === undefined ? passes : { kind: 'output-modes', offered: requested, accepted },
      )
    },
  )
})

const text = 'text/plain'
const json = 'application/json'
const anyFile = 'application/octet-stream'

/** The input modes of the agent, a message's parts in each version, and the media types among them that the agent does not accept. */
const inputs: readonly (readonly [agent: string[], v0_3: Json, v1_0: Json, rejected: string[]])[] = [
  [[text], [{ kind: 'text', text: 'a' }], [{ text: 'a' }], []],
  [[json], [{ kind: 'text', text: 'a' }], [{ text: 'a' }], [text]],
  [['text/*'], [{ kind: 'text', text: 'a' }], [{ text: 'a' }], []],
  [['*/*'], [{ kind: 'text', text: 'a' }], [{ text: 'a' }], []],
  [['text'], [{ kind: 'text', text: 'a' }], [{ text: 'a' }], []],
  [[`${text}; charset=utf-8`], [{ kind: 'text', text: 'a' }], [{ text: 'a' }], []],
  [[json], [{ kind: 'data', data: {} }], [{ data: {} }], []],
  [[text], [{ kind: 'data', data: {} }], [{ data: {} }], [json]],
  [[json], [{ kind: 'data', data: { a: 1 } }], [{ data: null }], []],
  [[text], [{ kind: 'data' }], [{ data: null }], [json]],
  [['image/png'], [{ kind: 'file', file: { mimeType: 'image/png' } }], [{ url: 'u', mediaType: 'image/png' }], []],
  [['image/*'], [{ kind: 'file', file: { mimeType: 'Image/PNG' } }], [{ raw: 'r', mediaType: 'Image/PNG' }], []],
  [[text], [{ kind: 'file', file: { mimeType: 'image/png' } }], [{ raw: 'r', mediaType: 'image/png' }], ['image/png']],
  [[text], [{ kind: 'file', file: { bytes: 'AA==' } }], [{ raw: 'AA==' }], [anyFile]],
  [['application/*'], [{ kind: 'file', file: { bytes: 'AA==' } }], [{ raw: 'AA==' }], []],
  [['*/*'], [{ kind: 'file', file: { bytes: 'AA==' } }], [{ raw: 'AA==' }], []],
  [[], [{ kind: 'file', file: { bytes: 'AA==' } }], [{ raw: 'AA==' }], []],
  [[text], [{ kind: 'file' }], [{ raw: '' }], [anyFile]],
  [[text], [{ kind: 'file', file: { uri: 'https://a.example/b' } }], [{ url: 'https://a.example/b' }], [anyFile]],
  [[text], [{ kind: 'file', file: { mimeType: '' } }], [{ raw: 'AA==', mediaType: '' }], [anyFile]],
  [[text], [{ kind: 'file', file: { mimeType: 'nonsense' } }], [{ raw: 'AA==', mediaType: 'nonsense' }], ['nonsense']],
  [['*/*'], [{ kind: 'file', file: { mimeType: 'nonsense' } }], [{ raw: 'AA==', mediaType: 'nonsense' }], []],
  [
    [text],
    [{ kind: 'file', file: { mimeType: 'text/plain;charset=utf-8' } }],
    [{ raw: 'AA==', mediaType: 'text/plain;charset=utf-8' }],
    [],
  ],
  [
    [text, json],
    [
      { kind: 'text', text: 'a' },
      { kind: 'data', data: {} },
    ],
    [{ text: 'a' }, { data: {} }],
    [],
  ],
  [
    [text],
    [
      { kind: 'text', text: 'a' },
      { kind: 'data', data: {} },
      { kind: 'file', file: { mimeType: 'image/png' } },
      { kind: 'file', file: { mimeType: 'image/png' } },
    ],
    [{ text: 'a' }, { data: {} }, { url: 'u', mediaType: 'image/png' }, { url: 'v', mediaType: 'image/png' }],
    [json, 'image/png'],
  ],
  [[], [{ kind: 'file', file: { mimeType: 'image/png' } }], [{ raw: 'r', mediaType: 'image/png' }], []],
  // Only one version can express these: the other's part is the closest equivalent.
  [
    ['image/svg+xml'],
    [{ kind: 'file', file: { mimeType: 'image/svg+xml' } }],
    [{ text: '<svg/>', mediaType: 'image/svg+xml' }],
    [],
  ],
  [[text], [{ kind: 'file', file: { mimeType: 'text/csv' } }], [{ text: 'a,b', mediaType: 'text/csv' }], ['text/csv']],
  [
    [text],
    [{ kind: 'file', file: { mimeType: 'application/vnd.a+json' } }],
    [{ data: 1, mediaType: 'application/vnd.a+json' }],
    ['application/vnd.a+json'],
  ],
  [
    [text],
    [{ kind: 'file', file: { mime_type: 'image/png' } }],
    [{ raw: 'r', media_type: 'image/png' }],
    ['image/png'],
  ],
  // A part that can be read in two ways must be acceptable in both.
  [
    [text],
    [{ kind: 'file', file: { mimeType: text, mime_type: 'image/png' } }],
    [{ raw: 'r', mediaType: text, media_type: 'image/png' }],
    ['image/png'],
  ],
  [
    [text],
    [{ kind: 'text', text: 'a', raw: 'AA==', mediaType: 'image/png' }],
    [{ text: 'a', file: { bytes: 'AA==', mimeType: 'image/png' } }],
    ['image/png'],
  ],
  [[text], [{ raw: 'AA==' }], [{ kind: 'file', file: { bytes: 'AA==' } }], [anyFile]],
  [[json], [{ kind: 'data', data: {}, text: 'a' }], [{ data: {}, text: 'a' }], [text]],
  // The agent itself rejects what is not a part.
  [[text], [null, 1, 'text', [], {}], [null, 1, 'text', [], {}], []],
  [[text], 'parts', 'parts', []],
  [[text], { 0: { kind: 'data', data: {} } }, { 0: { data: {} } }, []],
  [[text], null, null, []],
]

describe('the media types of parts', () => {
  it.each(inputs)('are compared with %j: %j, %j, rejecting %j', (input, v03, v10, rejected) => {
    const evaluate = (version: WireVersion, parts: Json) =>
      (['send', 'stream'] as const).map(operation =>
        evaluatePolicy(callWith({ version, operation, params: { message: { parts } } }), profileFor({ input })),
      )
    expect(expectSame([...evaluate('0.3', v03), ...evaluate('1.0', v10)])).toStrictEqual(
      rejected.length === 0 ? passes : { kind: 'input-modes', offered: rejected, accepted: input },
    )
  })

  it.each([
    ['content', { message: { content: [{ data: { data: {} } }] } }, ['application/json']],
    ['content of a request', { request: { content: [{ data: { data: {} } }] } }, ['application/json']],
    ['a file', { message: { content: [{ file: { fileWithUri: 'u', mimeType: 'image/png' } }] } }, ['image/png']],
    ['text', { message: { content: [{ text: 'a' }] } }, undefined],
  ] as [string, JsonObject, string[] | undefined][])('are found in v0.3 over HTTP+JSON: %s', (_, params, offered) => {
    const call = callWith({ binding: 'HTTP+JSON', version: '0.3', params })
    expect(evaluatePolicy(call, profileFor({ input: ['text/plain'] }))).toStrictEqual(
      offered === undefined ? passes : { kind: 'input-modes', offered, accepted: ['text/plain'] },
    )
  })

  it.each([
    ['no skill', undefined, undefined],
    ['the skill', 'listen', undefined],
    ['a skill without modes', 'chart', ['text/plain']],
    ['an unknown skill', 'dance', undefined],
  ])('are compared with the modes of %s', (_, skillId, accepted) => {
    const profile = profileFor({ input: ['text/plain'] }, { listen: { input: ['audio/wav'] }, chart: {} })
    const params = {
      message: { parts: [{ raw: 'AA==', mediaType: 'audio/wav' }], metadata: { skillId: skillId ?? null } },
    }
    expect(evaluatePolicy(callWith({ params }), profile)).toStrictEqual(
      accepted === undefined ? passes : { kind: 'input-modes', offered: ['audio/wav'], accepted },
    )
  })

  it('are not compared if there are two messages, because each may name a skill', () => {
    const params = { message: { parts: [] }, request: { content: [], metadata: { skillId: 'listen' } } }
    const description = 'is another name of `message`, which is also present: send one of them'
    expect(evaluateAll(profileFor({}), params)).toStrictEqual({
      kind: 'invalid-params',
      detail: `\`request\` ${description}.`,
      violations: [{ field: 'request', description }],
    })
  })

  it('are read from at most 1,000 parts', () => {
    const parts = Array(1001).fill({ kind: 'text', text: 'a' })
    expect([
      evaluateAll(profileFor({ input: ['text/plain'] }), { message: { parts: parts.slice(1) } }),
      evaluateAll(profileFor({ input: ['text/plain'] }), { message: { parts } }),
      evaluateAll(profileFor({}), { message: { parts } }),
    ]).toStrictEqual([
      passes,
      {
        kind: 'invalid-params',
        detail: '`message.parts` must be at most 1000 parts.',
        violations: [{ field: 'message.parts', description: 'must be at most 1000 parts' }],
      },
      passes,
    ])
  })
})

const textOnly = { input: ['text/plain'], output: ['text/plain'] }
const textModes = { defaults: textOnly, union: textOnly, skills: {} }
const rejectionOf = (part: Json, version: '0.3' | '1.0') => {
  const read = readMessage({ operation: 'send', params: { message: { parts: [part] } }, version })
  return 'kind' in read ? read.kind : checkInputModes(read, textModes)?.kind
}

describe('the media type of a part', () => {
  // Lenient agents join a list into one string, and read a range as any type.
  it.each<[string, '0.3' | '1.0', Json]>([
    ['a list', '1.0', { url: 'https://a.example/x', mediaType: ['image/png'] }],
    ['an object', '1.0', { url: 'https://a.example/x', mediaType: {} }],
    ['a range', '1.0', { url: 'https://a.example/x', mediaType: 'text/*' }],
    ['a wildcard', '1.0', { url: 'https://a.example/x', media_type: '*/*' }],
    ['a number', '1.0', { raw: 'AA==', mediaType: 7 }],
    ['a number', '0.3', { kind: 'file', file: { mimeType: 7 } }],
    ['a list', '0.3', { kind: 'file', file: { uri: 'https://a.example/x', mimeType: ['image/png'] } }],
    ['a range', '0.3', { kind: 'file', file: { uri: 'https://a.example/x', mime_type: '*' } }],
  ])('must not be %s (%s)', (_, version, part) => {
    expect(rejectionOf(part, version)).toBe('invalid-params')
  })

  it('may be null', () => {
    expect(rejectionOf({ url: 'https://a.example/x', mediaType: null }, '1.0')).toBe('input-modes')
  })
})

it('compares a type with the modes of the same type only, so that a call costs in proportion to its parts', () => {
  const modes = Array.from({ length: 200 }, (_, index) => `a${index}/b`)
  const parts = Array.from({ length: 1000 }, (_, index) => ({ text: '', mediaType: `a${index % 200}/c${index}` }))
  const message = readMessage(callWith({ version: '1.0', params: { message: { parts } } })) as MessageFacts
  const { modes: listed } = profileFor({ input: modes })
  const { modes: single } = profileFor({ input: ['a0/b'] })
  const timeOf = (accepted: CallModes) => cpuTime(() => checkInputModes(message, accepted))
  expect(timeOf(listed) / timeOf(single)).toBeLessThan(4)
})

it('takes time linear in the length of hostile lists', () => {
  const parameters = (start: number) => Array.from({ length: 40 }, (_, index) => `;p${start + index}=${index}`).join('')
  const agent = Array.from({ length: 500 }, (_, index) => `a/c${parameters(index)}`)
  const checkModes = (length: number) => {
    const modes = Array.from({ length }, (_, index) =>
      `a/b${parameters(index)}${index % 2 ? ';q=0' : ''}`.slice(0, 256),
    )
    return evaluatePolicy(callWith({ params: accepting(modes) }), profileFor({ output: agent }))
  }
  expect(growth(100, checkModes)).toBeLessThan(linear)
})

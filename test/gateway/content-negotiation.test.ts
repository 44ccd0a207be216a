import { describe, expect, it } from 'vitest'
import type { A2ACall } from '../../src/a2a/operations.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import type { Modes, WireVersion } from '../../src/card/model/calls.ts'
import { evaluatePolicy } from '../../src/gateway/policy.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { callWith, profileWith } from '../support/calls.ts'
import { growth, linear } from '../support/cpu-time.ts'

const passes = { warnings: [] }

const agentOf = (modes: Partial<Modes>, skills: CallProfile['modes']['skills'] = {}): CallProfile => {
  const defaults = { input: [], output: [], ...modes }
  const any = {
    input: [...defaults.input, ...Object.values(skills).flatMap(({ input = [] }) => input)],
    output: [...defaults.output, ...Object.values(skills).flatMap(({ output = [] }) => output)],
  }
  return profileWith({ modes: { defaults, union: any, skills } })
}

const versions: readonly (readonly [WireVersion, A2ACall['operation']])[] = [
  ['0.3', 'send'],
  ['0.3', 'stream'],
  ['1.0', 'send'],
  ['1.0', 'stream'],
]

/** What every version says of a call with these parameters; they must agree. */
const verdicts = (profile: CallProfile, params: JsonObject): unknown =>
  agreed(versions.map(([version, operation]) => evaluatePolicy(callWith({ version, operation, params }), profile)))

const agreed = (all: readonly unknown[]): unknown => {
  for (const one of all) expect(one).toStrictEqual(all[0])
  return all[0]
}

const accepting = (acceptedOutputModes: Json, skillId?: Json): JsonObject => ({
  message: { messageId: 'm', parts: [], ...(skillId !== undefined && { metadata: { skillId } }) },
  configuration: { acceptedOutputModes },
})

/** What the agent puts out, what the caller accepts, and whether they meet. */
const outputs: readonly (readonly [agent: string[], caller: string[], meet: boolean])[] = [
  // The same, or not.
  [['text/plain'], ['text/plain'], true],
  [['text/plain'], ['image/png'], false],
  [['text/plain', 'application/json'], ['application/json'], true],
  [['text/plain'], ['image/png', 'text/plain'], true],
  [['text/plain', 'text/html'], ['image/png', 'image/jpeg'], false],
  [['application/vnd.acme.v2+json'], ['application/vnd.acme.v2+json'], true],
  // Nothing to hold on to: no constraint.
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
  // Quality: only none at all counts.
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
  // Words that are no media types, as they are found in cards.
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
  it.each(outputs)('of an agent with %j, by a caller with %j: %s', (agent, caller, meet) => {
    expect(verdicts(agentOf({ output: agent }), accepting(caller))).toStrictEqual(
      meet ? passes : { kind: 'output-modes', offered: caller, accepted: agent },
    )
  })

  it.each([
    ['no configuration', {}],
    ['a null for it', { configuration: null }],
    ['a text for it', { configuration: 'image/png' }],
    ['an empty one', { configuration: {} }],
    ['a null for the modes', { configuration: { acceptedOutputModes: null } }],
  ] as [string, JsonObject][])('with %s are no constraint', (_, params) => {
    expect(verdicts(agentOf({ output: ['text/plain'] }), params)).toStrictEqual(passes)
  })

  it('are read by their other name of ProtoJSON too', () => {
    const params = { configuration: { accepted_output_modes: ['image/png'] } }
    expect(verdicts(agentOf({ output: ['text/plain'] }), params)).toMatchObject({ kind: 'output-modes' })
  })

  it.each([
    [['text/plain'], ['image/png']],
    [['image/png'], ['text/plain']],
    [['text/plain'], []],
  ])('are refused under both names: %j and %j', (acceptedOutputModes, accepted_output_modes) => {
    const field = 'configuration.accepted_output_modes'
    const description = 'is another name of `acceptedOutputModes`, which is also present: send one of them'
    expect(
      verdicts(agentOf({ output: ['text/plain'] }), { configuration: { acceptedOutputModes, accepted_output_modes } }),
    ).toStrictEqual({
      kind: 'invalid-params',
      detail: `\`${field}\` ${description}.`,
      violations: [{ field, description }],
    })
    const configuration = { acceptedOutputModes: null, accepted_output_modes: ['text/plain'] }
    expect(verdicts(agentOf({ output: ['text/plain'] }), { configuration })).toStrictEqual(passes)
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
  ] as [Json, string, string][])('that are %j are refused as parameters', (modes, at, description) => {
    const field = `configuration.acceptedOutputModes${at}`
    expect(verdicts(agentOf({ output: ['text/plain'] }), accepting(modes))).toStrictEqual({
      kind: 'invalid-params',
      detail: `\`${field}\` ${description}.`,
      violations: [{ field, description }],
    })
  })
})

describe('the output modes of a skill', () => {
  const profile = agentOf(
    { output: ['text/plain'] },
    { chart: { output: ['image/png'] }, listen: { input: ['audio/wav'] }, __proto__: {} },
  )

  it.each([
    ['no skill', undefined, ['image/png'], undefined],
    ['no skill, and the default', undefined, ['text/plain'], undefined],
    ['the skill', 'chart', ['image/png'], undefined],
    ['the skill, and the default', 'chart', ['text/plain'], ['image/png']],
    ['a skill with none of its own', 'listen', ['image/png'], ['text/plain']],
    ['a skill with none of its own, and the default', 'listen', ['text/plain'], undefined],
    ['a skill that nobody knows', 'dance', ['image/png'], undefined],
    ['a skill that nobody knows, and nobody has', 'dance', ['video/mp4'], ['text/plain', 'image/png']],
    ['no skill, but a number', 1, ['image/png'], undefined],
    ["no skill, but a name of JavaScript's", 'constructor', ['image/png'], undefined],
    ["no skill, but another name of JavaScript's", '__proto__', ['image/png'], undefined],
  ] as [string, Json | undefined, string[], string[] | undefined][])(
    'count where a message names %s',
    (_, skill, wanted, accepted) => {
      expect(verdicts(profile, accepting(wanted, skill))).toStrictEqual(
        accepted === undefined ? passes : { kind: 'output-modes', offered: wanted, accepted },
      )
    },
  )
})

const text = 'text/plain'
const json = 'application/json'

/** What goes into the agent, a message's parts in the words of each version, and those of their types that do not. */
const inputs: readonly (readonly [agent: string[], v0_3: Json, v1_0: Json, refused: string[]])[] = [
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
  [[text], [{ kind: 'file', file: { bytes: 'AA==' } }], [{ raw: 'AA==' }], []],
  [[text], [{ kind: 'file', file: { uri: 'https://a.example/b.png' } }], [{ url: 'https://a.example/b.png' }], []],
  [[text], [{ kind: 'file', file: { mimeType: '' } }], [{ raw: 'AA==', mediaType: '' }], []],
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
  // What only one version can say: the other's part says as much in its own way.
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
  // What two readers could read as two things must be fit for both.
  [
    [text],
    [{ kind: 'file', file: { mimeType: text, mime_type: 'image/png' } }],
    [{ raw: 'r', mediaType: text, media_type: 'image/png' }],
    ['image/png'],
  ],
  [[json], [{ kind: 'data', data: {}, text: 'a' }], [{ data: {}, text: 'a' }], [text]],
  // What is no part is for the agent to refuse.
  [[text], [null, 1, 'text', [], {}], [null, 1, 'text', [], {}], []],
  [[text], 'parts', 'parts', []],
  [[text], { 0: { kind: 'data', data: {} } }, { 0: { data: {} } }, []],
  [[text], null, null, []],
]

describe('the media types of parts', () => {
  it.each(inputs)('that go into %j: %j, %j but for %j', (input, v03, v10, refused) => {
    const of = (version: WireVersion, parts: Json) =>
      (['send', 'stream'] as const).map(operation =>
        evaluatePolicy(callWith({ version, operation, params: { message: { parts } } }), agentOf({ input })),
      )
    expect(agreed([...of('0.3', v03), ...of('1.0', v10)])).toStrictEqual(
      refused.length === 0 ? passes : { kind: 'input-modes', offered: refused, accepted: input },
    )
  })

  it.each([
    ['content', { message: { content: [{ data: { data: {} } }] } }, ['application/json']],
    ['content of a request', { request: { content: [{ data: { data: {} } }] } }, ['application/json']],
    ['a file', { message: { content: [{ file: { fileWithUri: 'u', mimeType: 'image/png' } }] } }, ['image/png']],
    ['text', { message: { content: [{ text: 'a' }] } }, undefined],
  ] as [string, JsonObject, string[] | undefined][])('of v0.3 over HTTP are found: %s', (_, params, offered) => {
    const call = callWith({ binding: 'HTTP+JSON', version: '0.3', params })
    expect(evaluatePolicy(call, agentOf({ input: ['text/plain'] }))).toStrictEqual(
      offered === undefined ? passes : { kind: 'input-modes', offered, accepted: ['text/plain'] },
    )
  })

  it.each([
    ['no skill', undefined, undefined],
    ['the skill', 'listen', undefined],
    ['a skill with none of its own', 'chart', ['text/plain']],
    ['a skill that nobody knows', 'dance', undefined],
  ])('are held against %s', (_, skillId, accepted) => {
    const profile = agentOf({ input: ['text/plain'] }, { listen: { input: ['audio/wav'] }, chart: {} })
    const params = {
      message: { parts: [{ raw: 'AA==', mediaType: 'audio/wav' }], metadata: { skillId: skillId ?? null } },
    }
    expect(evaluatePolicy(callWith({ params }), profile)).toStrictEqual(
      accepted === undefined ? passes : { kind: 'input-modes', offered: ['audio/wav'], accepted },
    )
  })

  it('are refused where there are two messages: each may name a skill', () => {
    const params = { message: { parts: [] }, request: { content: [], metadata: { skillId: 'listen' } } }
    const description = 'is another name of `message`, which is also present: send one of them'
    expect(verdicts(agentOf({}), params)).toStrictEqual({
      kind: 'invalid-params',
      detail: `\`request\` ${description}.`,
      violations: [{ field: 'request', description }],
    })
  })

  it('are those of 1,000 parts at most', () => {
    const parts = Array(1001).fill({ kind: 'text', text: 'a' })
    expect([
      verdicts(agentOf({ input: ['text/plain'] }), { message: { parts: parts.slice(1) } }),
      verdicts(agentOf({ input: ['text/plain'] }), { message: { parts } }),
      verdicts(agentOf({}), { message: { parts } }),
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

it('takes time in proportion to the lists, however hostile', () => {
  const parameters = (start: number) => Array.from({ length: 40 }, (_, index) => `;p${start + index}=${index}`).join('')
  const agent = Array.from({ length: 500 }, (_, index) => `a/c${parameters(index)}`)
  const checkModes = (length: number) => {
    const modes = Array.from({ length }, (_, index) =>
      `a/b${parameters(index)}${index % 2 ? ';q=0' : ''}`.slice(0, 256),
    )
    return evaluatePolicy(callWith({ params: accepting(modes) }), agentOf({ output: agent }))
  }
  expect(growth(100, checkModes)).toBeLessThan(linear)
})

import { describe, expect, it } from 'vitest'
import { type MessageFacts, readMessage } from '../../../src/a2a/message.ts'
import type { A2ACall } from '../../../src/a2a/operations.ts'
import { checkInputModes } from '../../../src/a2a/sent-message.ts'
import type { CallModes, Modes } from '../../../src/card/model/modes.ts'
import type { WireVersion } from '../../../src/card/model/versions.ts'
import type { Gate } from '../../../src/gateway/gate/gate.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { callWith, decide, gateWith, passes, profileWith } from '../../support/calls.ts'
import { cpuTime } from '../../support/cpu-time.ts'

const gateFor = (modes: Partial<Modes>, skills: CallModes['skills'] = {}): Gate => {
  const defaults = { input: [], output: [], ...modes }
  const union = {
    input: [...defaults.input, ...Object.values(skills).flatMap(({ input = [] }) => input)],
    output: [...defaults.output, ...Object.values(skills).flatMap(({ output = [] }) => output)],
  }
  // What is no message is compared, too.
  const gate = { ...profileWith().gate, version: 'off' } as const
  return gateWith({ gate, modes: { defaults, union, skills } })
}

const versions: readonly (readonly [WireVersion, A2ACall['operation']])[] = [
  ['0.3', 'send'],
  ['0.3', 'stream'],
  ['1.0', 'send'],
  ['1.0', 'stream'],
]

/** Returns the decision on a call with `params`, which must be the same in every version. */
const evaluateAll = (gate: Gate, params: JsonObject): unknown =>
  expectSame(versions.map(([version, operation]) => decide(gate, callWith({ version, operation, params }))))

const expectSame = (decisions: readonly unknown[]): unknown => {
  for (const decision of decisions) expect(decision).toStrictEqual(decisions[0])
  return decisions[0]
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
  [['text/plain'], ['image/png', 'text/plain'], true],
  // An empty list is no constraint.
  [[], ['image/png'], true],
  [['text/plain'], [], true],
  // Case and white space.
  [['text/plain'], ['Text/PLAIN'], true],
  [['TEXT/Plain'], ['text/plain'], true],
  // Neither a prefix nor a suffix is the same.
  [['text/plain'], ['text/plainer'], false],
  [['application/json'], ['application/ld+json'], false],
  // The caller's wildcards.
  [['text/plain'], ['*/*'], true],
  [['text/plain'], ['*'], true],
  [['text/plain'], ['text/*'], true],
  [['text/plain'], ['image/*'], false],
  [['texture/plain'], ['text/*'], false],
  // The agent's.
  [['*/*'], ['image/png'], true],
  [['*'], ['image/png'], true],
  [['image/*'], ['image/png'], true],
  [['image/*'], ['text/plain'], false],
  // Both.
  [['image/*'], ['image/*'], true],
  [['image/*'], ['text/*'], false],
  // Parameters, on one side or on both.
  [['text/plain; charset=utf-8'], ['text/plain'], true],
  [['text/plain;charset=utf-8'], ['text/plain; charset="UTF-8"'], true],
  [['text/plain;charset=utf-8'], ['text/plain;charset=iso-8859-1'], false],
  [['application/json;profile=a;version=1'], ['application/json;version=1'], true],
  [['text/plain;charset=utf-8'], ['text/*;charset=latin1'], false],
  [['text/plain;'], ['text/plain'], true],
  // Quality: only q=0 counts.
  [['text/plain'], ['text/plain;q=0.1'], true],
  [['text/plain'], ['text/plain;q=0.000'], false],
  [['text/plain'], ['text/plain;Q=0'], false],
  [['text/plain'], ['*/*', 'text/plain;q=0'], false],
  [['text/plain'], ['text/plain', '*/*;q=0'], true],
  [['text/plain'], ['text/*;q=0', '*/*'], false],
  [['text/plain'], ['text/plain', 'text/*;q=0'], true],
  [['text/plain'], ['text/plain', 'text/plain;q=0'], false],
  [['image/*'], ['image/*', 'image/png;q=0'], true],
  [['*/*'], ['*/*', 'image/png;q=0'], true],
  [['image/*'], ['image/png', 'image/png;q=0'], false],
  [['text/plain'], ['text/plain;charset=utf-8;q=0', 'text/plain'], true],
  [['text/plain;charset=utf-8'], ['text/plain;charset=utf-8;q=0', 'text/plain'], false],
  [['text/plain'], ['text/plain;q=high'], true],
  // Words that are not media types, as cards contain them.
  [['text'], ['text/plain'], true],
  [['text/plain'], ['text'], true],
  [['Text'], ['TEXT'], true],
  [['text'], ['image/png'], false],
  [['file'], ['*/*'], true],
  [['image'], ['image/png'], true],
  [['something else'], ['text/plain'], false],
  [[''], ['text/plain'], false],
]

describe('accepted output modes', () => {
  const agent = gateFor({ output: ['text/plain'] })

  it('must overlap with those of the agent', () => {
    for (const [agent, caller, overlaps] of outputs)
      expect(evaluateAll(gateFor({ output: agent }), accepting(caller)), `${agent} and ${caller}`).toStrictEqual(
        overlaps ? passes : { kind: 'output-modes', offered: caller, accepted: agent },
      )
  })

  it('do not constrain a call if they are absent', () => {
    for (const params of [{}, { configuration: 'image/png' }, { configuration: { acceptedOutputModes: null } }])
      expect(evaluateAll(agent, params), JSON.stringify(params)).toStrictEqual(passes)
  })

  it('are also read in snake_case, which ProtoJSON allows', () => {
    const params = { configuration: { accepted_output_modes: ['image/png'] } }
    expect(evaluateAll(agent, params)).toMatchObject({ kind: 'output-modes' })
  })

  const invalid = (field: string, description: string) => ({
    kind: 'invalid-params',
    detail: `\`${field}\` ${description}.`,
    violations: [{ field, description }],
  })

  it('are rejected under both names', () => {
    const description = 'is another name of `acceptedOutputModes`, which is also present: send one of them'
    const evaluateBoth = (acceptedOutputModes: Json) =>
      evaluateAll(agent, { configuration: { acceptedOutputModes, accepted_output_modes: ['text/plain'] } })
    expect([evaluateBoth(['image/png']), evaluateBoth(null)]).toStrictEqual([
      invalid('configuration.accepted_output_modes', description),
      passes,
    ])
  })

  it('are invalid if they are not a list of media types and ranges', () => {
    const notList = 'must be a list of media types'
    const notType = 'must be a media type or a range, such as "text/plain" or "image/*"'
    const notTypes = ['', 'a/b/c', 'text/', '/plain', 'text/ plain', `text/${'x'.repeat(300)}`]
    for (const [modes, at, description] of [
      ['text/plain', '', notList],
      [['text/plain', 1], '[1]', notType],
      ...notTypes.map(type => [[type], '[0]', notType]),
      [Array(101).fill('text/plain'), '', 'must be at most 100 media types'],
    ] as [Json, string, string][])
      expect(evaluateAll(agent, accepting(modes)), JSON.stringify(modes)).toStrictEqual(
        invalid(`configuration.acceptedOutputModes${at}`, description),
      )
  })
})

it('compares accepted output modes with those of the skill that the message names', () => {
  const skills = { chart: { output: ['image/png'] }, listen: { input: ['audio/wav'] } }
  const gate = gateFor({ output: ['text/plain'] }, skills)
  for (const [skill, requested, accepted] of [
    [undefined, 'image/png'],
    ['chart', 'text/plain', ['image/png']],
    // A skill without modes, and what is no skill.
    ['listen', 'image/png', ['text/plain']],
    [1, 'image/png'],
    ['constructor', 'image/png'],
  ] as [Json | undefined, string, string[]?][])
    expect(evaluateAll(gate, accepting([requested], skill)), `${skill}: ${requested}`).toStrictEqual(
      accepted === undefined ? passes : { kind: 'output-modes', offered: [requested], accepted },
    )
})

const text = 'text/plain'
const json = 'application/json'
const anyFile = 'application/octet-stream'
const t03 = { kind: 'text', text: 'a' }
const t10 = { text: 'a' }
const d03 = { kind: 'data', data: {} }
const d10 = { data: {} }
const f03 = (mimeType: string): JsonObject => ({ kind: 'file', file: { mimeType } })
const f10 = (mediaType: string): JsonObject => ({ raw: 'AA==', mediaType })
const bytes03 = { kind: 'file', file: { bytes: 'AA==' } }
const bytes10 = { raw: 'AA==' }

/** The input modes of the agent, a message's parts in each version, and the media types that the agent does not accept. */
const inputs: readonly (readonly [agent: string[], v0_3: Json, v1_0: Json, rejected?: string[]])[] = [
  [[text], [t03], [t10]],
  [[json], [t03], [t10], [text]],
  [[json], [d03], [d10]],
  [[text], [d03], [d10], [json]],
  [[text], [{ kind: 'data' }], [{ data: null }], [json]],
  [['image/png'], [f03('image/png')], [{ url: 'u', mediaType: 'image/png' }]],
  [['image/*'], [f03('Image/PNG')], [f10('Image/PNG')]],
  [[text], [f03('image/png')], [f10('image/png')], ['image/png']],
  [[text], [bytes03], [bytes10], [anyFile]],
  [[text], [{ kind: 'file' }], [{ raw: '' }], [anyFile]],
  [[text], [{ kind: 'file', file: { uri: 'https://a.example/b' } }], [{ url: 'https://a.example/b' }], [anyFile]],
  [[text], [f03('')], [f10('')], [anyFile]],
  [[text], [f03('nonsense')], [f10('nonsense')], ['nonsense']],
  [
    [text],
    [t03, d03, f03('image/png'), f03('image/png')],
    [t10, d10, { url: 'u', mediaType: 'image/png' }, { url: 'v', mediaType: 'image/png' }],
    [json, 'image/png'],
  ],
  [[], [f03('image/png')], [f10('image/png')]],
  // Only one version can express these: the other's part is the closest equivalent.
  [['image/svg+xml'], [f03('image/svg+xml')], [{ text: '<svg/>', mediaType: 'image/svg+xml' }]],
  [[text], [f03('text/csv')], [{ text: 'a,b', mediaType: 'text/csv' }], ['text/csv']],
  [[text], [{ kind: 'file', file: { mime_type: 'a/b' } }], [{ raw: 'r', media_type: 'a/b' }], ['a/b']],
  // A part that can be read in two ways must be acceptable in both.
  [
    [text],
    [{ kind: 'file', file: { mimeType: text, mime_type: 'image/png' } }],
    [{ raw: 'r', mediaType: text, media_type: 'image/png' }],
    ['image/png'],
  ],
  [
    [text],
    [{ ...t03, raw: 'AA==', mediaType: 'image/png' }],
    [{ ...t10, file: { bytes: 'AA==', mimeType: 'image/png' } }],
    ['image/png'],
  ],
  [[json], [{ ...d03, text: 'a' }], [{ ...d10, text: 'a' }], [text]],
  // The agent itself rejects what is not a part.
  [[text], [null, 1, 'text', [], {}], [null, 1, 'text', [], {}]],
  [[text], 'parts', 'parts'],
]

describe('the media types of parts', () => {
  const textOnly = gateFor({ input: [text] })

  it('are compared with those of the agent', () => {
    for (const [input, v03, v10, rejected] of inputs) {
      const evaluate = (version: WireVersion, parts: Json) =>
        decide(gateFor({ input }), callWith({ version, params: { message: { parts } } }))
      const decision = expectSame([evaluate('0.3', v03), evaluate('1.0', v10)])
      const expected = rejected === undefined ? passes : { kind: 'input-modes', offered: rejected, accepted: input }
      expect(decision, JSON.stringify([input, v10])).toStrictEqual(expected)
    }
  })

  it('are found in v0.3 over HTTP+JSON', () => {
    for (const [params, offered] of [
      [{ request: { content: [{ data: { data: {} } }] } }, json],
      [{ message: { content: [{ file: { fileWithUri: 'u', mimeType: 'image/png' } }] } }, 'image/png'],
    ] as [JsonObject, string][]) {
      const call = callWith({ binding: 'HTTP+JSON', version: '0.3', params })
      const expected = { kind: 'input-modes', offered: [offered], accepted: [text] }
      expect(decide(textOnly, call), JSON.stringify(params)).toStrictEqual(expected)
    }
  })

  it('are not compared if there are two messages, because each may name a skill', () => {
    const params = { message: { parts: [] }, request: { content: [], metadata: { skillId: 'listen' } } }
    const description = 'is another name of `message`, which is also present: send one of them'
    expect(evaluateAll(gateFor({}), params)).toStrictEqual({
      kind: 'invalid-params',
      detail: `\`request\` ${description}.`,
      violations: [{ field: 'request', description }],
    })
  })

  it('are read from at most 1,000 parts', () => {
    const parts = Array(1001).fill(t03)
    const violations = [{ field: 'message.parts', description: 'must be at most 1000 parts' }]
    expect([
      evaluateAll(gateFor({ input: [text] }), { message: { parts: parts.slice(1) } }),
      evaluateAll(gateFor({ input: [text] }), { message: { parts } }),
      evaluateAll(gateFor({}), { message: { parts } }),
    ]).toStrictEqual([
      passes,
      { kind: 'invalid-params', detail: '`message.parts` must be at most 1000 parts.', violations },
      passes,
    ])
  })

  it('must be plain types', () => {
    const url = 'https://a.example/x'
    // Lenient agents join a list into one string, and read a range as any type.
    for (const [part, version] of [
      [{ url, mediaType: ['image/png'] }, '1.0'],
      [{ url, media_type: '*/*' }, '1.0'],
      [{ kind: 'file', file: { mimeType: 7 } }, '0.3'],
      [{ kind: 'file', file: { uri: url, mime_type: '*' } }, '0.3'],
    ] as [JsonObject, WireVersion][]) {
      const decision = decide(textOnly, callWith({ version, params: { message: { parts: [part] } } }))
      expect(decision, JSON.stringify(part)).toMatchObject({ kind: 'invalid-params' })
    }
  })
})

it('compares a type with the modes of the same type only, so that a call costs in proportion to its parts', () => {
  const modes = Array.from({ length: 200 }, (_, index) => `a${index}/b`)
  const parts = Array.from({ length: 1000 }, (_, index) => ({ text: '', mediaType: `a${index % 200}/c${index}` }))
  const message = readMessage(callWith({ version: '1.0', params: { message: { parts } } })) as MessageFacts
  const timeOf = (input: string[]) => {
    const { profile } = gateFor({ input })
    return cpuTime(() => checkInputModes(message, profile.modes))
  }
  expect(timeOf(modes) / timeOf(['a0/b'])).toBeLessThan(4)
})

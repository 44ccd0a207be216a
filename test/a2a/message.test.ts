import { describe, expect, it } from 'vitest'
import { readMessage } from '../../src/a2a/message.ts'
import type { OperationName } from '../../src/a2a/operations.ts'
import type { WireVersion } from '../../src/card/model/versions.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'

const read = (
  params: JsonObject,
  version: WireVersion = '1.0',
  agentVersion = version,
  operation: OperationName = 'send',
) => readMessage({ operation, version, params }, agentVersion)

const plain = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }
const plainV03 = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] }
const facts = {
  parts: plain.parts,
  mediaTypes: ['text/plain'],
  ambiguousPart: undefined,
  skillId: undefined,
  acceptedOutputModes: undefined,
  hasPushConfig: false,
  isDoubtful: false,
  callbackUrls: [],
}

describe('readMessage', () => {
  it('reads a message that has members of A2A and others', () => {
    const modes = ['text/plain']
    for (const [params, version, changes] of [
      [{ message: plain }, '1.0', {}],
      [{ message: plainV03 }, '0.3', { parts: plainV03.parts }],
      [{ message: { ...plain, contextId: 'c', extensions: [], referenceTaskIds: [], unknown: 1 } }, '1.0', {}],
      [{ message: { ...plain, metadata: { skillId: 's' } }, metadata: {}, tenant: 't' }, '1.0', { skillId: 's' }],
      [{ message: plain, configuration: { acceptedOutputModes: modes } }, '1.0', { acceptedOutputModes: modes }],
      [{ message: plain, configuration: { accepted_output_modes: modes } }, '1.0', { acceptedOutputModes: modes }],
      [{ message: { ...plain, role: 'user' } }, '1.0', { isDoubtful: true }],
      [{ request: { content: plain.parts } }, '1.0', { isDoubtful: true }],
    ] as [JsonObject, WireVersion, object][])
      expect([params, read(params, version)]).toStrictEqual([params, { ...facts, ...changes }])
  })

  it('reads the media types that parts declare or imply, each once, as their agent gets them', () => {
    for (const [parts, version, agentVersion, mediaTypes, ambiguousPart] of [
      [[{ text: 'x' }, { text: 'y' }], '1.0', '1.0', ['text/plain']],
      [[{ text: '{}', media_type: 'application/json' }], '1.0', '1.0', ['application/json']],
      [[{ text: 'x' }, { url: 'u', mediaType: 'image/*' }], '1.0', '1.0', ['text/plain', 'image/*'], 1],
      [[{ url: 'u' }, { raw: 'AA==' }], '1.0', '1.0', ['application/octet-stream']],
      [[{ data: null }, { data: 1, mediaType: 'text/csv' }], '1.0', '1.0', ['application/json', 'text/csv']],
      [[{ data: 1, mediaType: 'text/csv' }], '1.0', '0.3', ['application/json']],
      [[{ data: 1, mediaType: 'application/a+json' }], '1.0', '0.3', ['application/a+json']],
      [
        [
          { kind: 'data', data: {} },
          { kind: 'text', text: 'x' },
        ],
        '0.3',
        '0.3',
        ['application/json', 'text/plain'],
      ],
      [[{ kind: 'file', file: { uri: 'u', mimeType: 'a/b' } }], '0.3', '0.3', ['a/b']],
      [[{ kind: 'file', file: { uri: 'u', mimeType: ['a/b'] } }], '0.3', '0.3', ['application/octet-stream'], 0],
    ] as [Json[], WireVersion, WireVersion, string[], number?][])
      expect([parts, read({ message: { ...plain, parts } }, version, agentVersion)]).toMatchObject([
        parts,
        { mediaTypes, ambiguousPart },
      ])
  })

  it('finds push configurations in the parameters and the configuration, at any depth', () => {
    const url = 'https://hook.example.com/'
    for (const [params, callbacks, operation = 'send'] of [
      [
        { message: plain, configuration: { pushNotificationConfig: { url } } },
        ['configuration.pushNotificationConfig'],
      ],
      [{ message: plain, pushNotification: { config: { url } } }, ['pushNotification.config']],
      [{ message: plain, configuration: { push_notification: 1 } }, []],
      [{ taskId: 't', config: { url } }, ['config'], 'createPushConfig'],
    ] as [JsonObject, string[], OperationName?][]) {
      const callbackUrls = callbacks.map(path => ({ field: `${path}.url`, url }))
      const found = read(params, '1.0', '1.0', operation)
      expect([params, found]).toMatchObject([params, { callbackUrls, hasPushConfig: operation === 'send' }])
    }
  })
})

import { describe, expect, it } from 'vitest'
import type { OperationName } from '../../src/a2a/operations.ts'
import { evaluatePolicy } from '../../src/gateway/policy.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { callWith, profileWith } from '../support/calls.ts'

const off = { capabilities: 'off', modes: 'off', extensions: 'off', version: 'off' } as const
const metadata = 'http://169.254.169.254/latest/meta-data'
const text = { text: 'hello' }
const asked = (params: JsonObject, operation: OperationName = 'send') =>
  evaluatePolicy(callWith({ operation, params }), profileWith({ gate: off }))

describe('a name that the gate looks at, in other letters', () => {
  it.each<[string, JsonObject, string?]>([
    ['message.Parts', { message: { parts: [text], Parts: [{ mediaType: 'image/png' }] } }, 'parts'],
    ['Message', { message: { parts: [text] }, Message: {} }],
    ['message.parts.MediaType', { message: { parts: [{ MediaType: 'image/png', text: 'x' }] } }, 'mediaType'],
    ['message.parts.file.MIMETYPE', { message: { parts: [{ kind: 'file', file: { MIMETYPE: 'a/b' } }] } }, 'mimeType'],
    ['configuration.AcceptedOutputModes', { configuration: { AcceptedOutputModes: ['a/b'] } }, 'acceptedOutputModes'],
    [
      'configuration.TaskPushNotificationConfig',
      { configuration: { TaskPushNotificationConfig: { url: metadata } } },
      'taskPushNotificationConfig',
    ],
    ['Configuration', { Configuration: { taskPushNotificationConfig: { url: metadata } } }],
    [
      'configuration.pushNotificationConfig.URL',
      { configuration: { pushNotificationConfig: { URL: metadata, url: 'https://hook.example.com/' } } },
      'url',
    ],
    ['Tenant', { tenant: 'acme', Tenant: 'evil' }],
    ['agent_name', { agent_name: 'other' }, 'agentName'],
    ['me\u017f\u017fage', { me\u017f\u017fage: {} }, 'message'],
    ['\u212aind', { message: { parts: [{ '\u212aind': 'text' }] } }, 'kind'],
  ])('is refused whatever the levels of the gate are, as some agents read it: %s', (field, params, meant = '') => {
    const path = field === '\u212aind' ? `message.parts.${field}` : field
    const description = `is spelled \`${meant || field.toLowerCase()}\` in A2A`
    expect(asked(params)).toEqual({
      kind: 'invalid-params',
      detail: `\`${path}\` ${description}.`,
      violations: [{ field: path, description }],
    })
  })

  it('is refused in what creates a configuration for push notifications', () => {
    expect(asked({ taskId: 't', config: { Url: metadata } }, 'createPushConfig')).toMatchObject({
      kind: 'invalid-params',
      violations: [{ field: 'config.Url' }],
    })
  })

  it.each<[string, JsonObject]>([
    ['of what a card or a caller may say freely', { message: { parts: [text], metadata: { Tenant: 1, PARTS: [] } } }],
    ['of data', { message: { parts: [{ data: { Text: 'a', URL: metadata } }] } }],
    ['that the gate does not look at', { message: { parts: [text], MessageId: '1' }, HistoryLength: 1 }],
    ['in snake_case, which ProtoJSON has too', { configuration: { accepted_output_modes: ['text/plain'] } }],
  ])('is let through where it is a name %s', (_, params) => {
    expect(asked(params)).toStrictEqual({ warnings: [] })
  })
})

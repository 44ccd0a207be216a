import { describe, expect, it } from 'vitest'
import type { OperationName } from '../../src/a2a/operations.ts'
import { evaluatePolicy } from '../../src/gateway/policy.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { callWith, profileWith } from '../support/calls.ts'

const gateOff = { capabilities: 'off', modes: 'off', extensions: 'off', version: 'off', responses: 'off' } as const
const metadata = 'http://169.254.169.254/latest/meta-data'
const text = { text: 'hello' }
const evaluate = (params: JsonObject, operation: OperationName = 'send') =>
  evaluatePolicy(callWith({ operation, params }), profileWith({ gate: gateOff }))

describe('a case variant of a field that the gate reads', () => {
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
  ])('is rejected at every gate level, because some agents accept it: %s', (field, params, canonical = '') => {
    const path = field === '\u212aind' ? `message.parts.${field}` : field
    const description = `is spelled \`${canonical || field.toLowerCase()}\` in A2A`
    expect(evaluate(params)).toEqual({
      kind: 'invalid-params',
      detail: `\`${path}\` ${description}.`,
      violations: [{ field: path, description }],
    })
  })

  it('is rejected in a push notification configuration', () => {
    expect(evaluate({ taskId: 't', config: { Url: metadata } }, 'createPushConfig')).toMatchObject({
      kind: 'invalid-params',
      violations: [{ field: 'config.Url' }],
    })
  })

  it.each<[string, JsonObject]>([
    ['in free-form metadata', { message: { parts: [text], metadata: { Tenant: 1, PARTS: [] } } }],
    ['in data', { message: { parts: [{ data: { Text: 'a', URL: metadata } }] } }],
    ['of a field that the gate does not read', { message: { parts: [text], MessageId: '1' }, HistoryLength: 1 }],
    ['in snake_case, which ProtoJSON allows', { configuration: { accepted_output_modes: ['text/plain'] } }],
  ])('is accepted %s', (_, params) => {
    expect(evaluate(params)).toStrictEqual({ warnings: [] })
  })
})

describe('another spelling of a parameter', () => {
  it.each([
    ['tenant[]', 'tenant'],
    ['tenant[0]', 'tenant'],
    ['tenant[id]', 'tenant'],
    ['tenant.', 'tenant'],
    ['tenant.id', 'tenant'],
    [' tenant', 'tenant'],
    ['tenant ', 'tenant'],
    ['tenant\u0000', 'tenant'],
    ['[tenant]', 'tenant'],
    ['TENANT[]', 'tenant'],
    ['agentName[]', 'agentName'],
    ['agent-name', 'agentName'],
    ['agent_name.x', 'agentName'],
    ['A2A_Version', 'A2A-Version'],
    ['A2A-Version[]', 'A2A-Version'],
    ['message[parts][0][text]', 'message'],
    ['configuration[pushNotificationConfig][url]', 'configuration'],
    ['configuration.acceptedOutputModes', 'configuration'],
    ['pushNotificationConfig[url]', 'pushNotificationConfig'],
    ['url[]', 'url'],
  ])('is rejected, because some servers read it as the parameter: %j', (field, name) => {
    expect(evaluate({ [field]: 'other' }, 'getTask')).toMatchObject({
      kind: 'invalid-params',
      violations: [{ field, description: `is spelled \`${name}\` in A2A` }],
    })
  })

  it.each(['tenants', 'mytenant', 'xtenant[]', 'historyLength', 'pageToken', 'contextId[]', '', '[]', '名前'])(
    'is not every other name: %j',
    field => {
      expect(evaluate({ [field]: 'other' }, 'getTask')).toStrictEqual({ warnings: [] })
    },
  )
})

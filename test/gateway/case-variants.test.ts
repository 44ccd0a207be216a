import { describe, expect, it } from 'vitest'
import type { OperationName } from '../../src/a2a/operations.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { callWith, decide, gateWith, passes } from '../support/calls.ts'

const gate = gateWith({
  gate: { capabilities: 'off', modes: 'off', extensions: 'off', version: 'off', responses: 'off' },
})
const url = 'http://169.254.169.254/latest/meta-data'
const text = { text: 'hello' }
const evaluate = (params: JsonObject, operation: OperationName = 'send') =>
  decide(gate, callWith({ operation, params }))

describe('a case variant of a field that the gate reads', () => {
  it('is rejected at every gate level, because some agents accept it', () => {
    for (const [field, params, name] of [
      ['message.Parts', { message: { parts: [text], Parts: [{ mediaType: 'image/png' }] } }, 'parts'],
      ['Message', { message: { parts: [text] }, Message: {} }, 'message'],
      ['message.parts.MediaType', { message: { parts: [{ MediaType: 'image/png', text: 'x' }] } }, 'mediaType'],
      [
        'message.parts.file.MIMETYPE',
        { message: { parts: [{ kind: 'file', file: { MIMETYPE: 'a/b' } }] } },
        'mimeType',
      ],
      ['configuration.AcceptedOutputModes', { configuration: { AcceptedOutputModes: ['a/b'] } }, 'acceptedOutputModes'],
      [
        'configuration.TaskPushNotificationConfig',
        { configuration: { TaskPushNotificationConfig: { url } } },
        'taskPushNotificationConfig',
      ],
      ['Configuration', { Configuration: { taskPushNotificationConfig: { url } } }, 'configuration'],
      [
        'configuration.pushNotificationConfig.URL',
        { configuration: { pushNotificationConfig: { URL: url, url: 'https://hook.example.com/' } } },
        'url',
      ],
      ['agent_name', { agent_name: 'other' }, 'agentName'],
      ['me\u017f\u017fage', { me\u017f\u017fage: {} }, 'message'],
      ['message.parts.\u212aind', { message: { parts: [{ '\u212aind': 'text' }] } }, 'kind'],
    ] as [string, JsonObject, string][]) {
      const description = `is spelled \`${name}\` in A2A`
      const detail = `\`${field}\` ${description}.`
      expect(evaluate(params), field).toEqual({ kind: 'invalid-params', detail, violations: [{ field, description }] })
    }
    const config = evaluate({ taskId: 't', config: { Url: url } }, 'createPushConfig')
    expect(config).toMatchObject({ kind: 'invalid-params', violations: [{ field: 'config.Url' }] })
  })

  it('is accepted where the gate does not read it, and in snake_case, which ProtoJSON allows', () => {
    for (const params of [
      { message: { parts: [text], metadata: { Tenant: 1, PARTS: [] } } },
      { message: { parts: [{ data: { Text: 'a', URL: url } }] } },
      { message: { parts: [text], MessageId: '1' }, HistoryLength: 1 },
      { configuration: { accepted_output_modes: ['text/plain'] } },
    ])
      expect(evaluate(params), JSON.stringify(params)).toStrictEqual(passes)
  })
})

describe('another spelling of a parameter', () => {
  it('is rejected, because some servers read it as the parameter', () => {
    for (const [name, spellings] of Object.entries({
      tenant: [...['tenant[]', 'tenant.id', '[tenant]', 'TENANT[]', ' tenant', 'tenant\u0000']],
      agentName: ['agentName[]', 'agent-name', 'agent_name.x'],
      'A2A-Version': ['A2A_Version', 'A2A-Version[]'],
      message: ['message[parts][0][text]'],
      configuration: ['configuration[pushNotificationConfig][url]', 'configuration.acceptedOutputModes'],
      pushNotificationConfig: ['pushNotificationConfig[url]'],
      url: ['url[]'],
    }))
      for (const field of spellings)
        expect(evaluate({ [field]: 'other' }, 'getTask'), field).toMatchObject({
          kind: 'invalid-params',
          violations: [{ field, description: `is spelled \`${name}\` in A2A` }],
        })
  })

  it('is not every other name', () => {
    const names = ['tenants', 'xtenant[]', 'contextId[]', '', '名前']
    for (const field of names) expect(evaluate({ [field]: 'other' }, 'getTask'), field).toStrictEqual(passes)
  })
})

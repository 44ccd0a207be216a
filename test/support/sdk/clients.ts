import { type AgentCard, ListTasksResponse, Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client'
import { JsonRpcTransport, RestTransport } from 'a2a-sdk-v0.3/client'
import { createParser } from 'eventsource-parser'
import type { Json, JsonObject } from '../../../src/json/json.ts'

/** A client of one version and binding. Objects are JSON of its version; streams are lists of events. */
export type OfficialClient = {
  /** Sends a text, and returns the task or message of the answer. */
  send: (text: string, isImmediate?: boolean) => Promise<JsonObject>
  stream: (text: string) => AsyncIterable<JsonObject>
  getTask: (id: string) => Promise<JsonObject>
  /** Absent in versions without a list of tasks. */
  listTasks?: () => Promise<JsonObject[]>
  cancel: (id: string) => Promise<JsonObject>
  resubscribe: (id: string) => AsyncIterable<JsonObject>
  /** Push configurations are texts: id, URL and scheme. */
  setPush: (task: string) => Promise<string>
  getPush: (task: string) => Promise<string>
  listPush: (task: string) => Promise<string[]>
  deletePush: (task: string) => Promise<unknown>
  /** Returns the description of the extended card. */
  describe: () => Promise<string>
}

const pushUrl = 'https://client.example.com/push'

/** How a push configuration is written in the tests. */
export const pushText = `p-1 ${pushUrl} Bearer`

/** Opens a client to the agent whose endpoint at the host is `url`. */
type OpenClient = (url: string, fetchImpl: typeof fetch) => Promise<OfficialClient>

/** Every client by its name. */
export const openClient: Readonly<Record<string, OpenClient>> = {
  '1.0 over JSON-RPC': (url, fetchImpl) => openV1(url, fetchImpl, 'JSONRPC'),
  '1.0 over HTTP+JSON': (url, fetchImpl) => openV1(url, fetchImpl, 'HTTP+JSON'),
  '1.0 as 0.3 over JSON-RPC': (url, fetchImpl) => openV1(url, fetchImpl, 'JSONRPC', true),
  '1.0 as 0.3 over HTTP+JSON': (url, fetchImpl) => openV1(url, fetchImpl, 'HTTP+JSON', true),
  '0.3 over JSON-RPC': async (url, fetchImpl) => openV03(new JsonRpcTransport({ endpoint: `${url}/a2a`, fetchImpl })),
  '0.3 over HTTP+JSON': async (url, fetchImpl) => openV03(new RestTransport({ endpoint: `${url}/a2a`, fetchImpl })),
  '0.2 over JSON-RPC': async (url, fetchImpl) => openV02(`${url}/a2a`, fetchImpl),
}

// 1.0

const openV1 = async (
  url: string,
  fetchImpl: typeof fetch,
  binding: string,
  isLegacy = false,
): Promise<OfficialClient> => {
  const options = { fetchImpl, ...(isLegacy && { legacyCompat: { enabled: true } }) }
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
      preferredTransports: [binding],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }),
  )
  if (!isLegacy) return driveV1(await factory.createFromUrl(`${url}/`))
  const card: AgentCard = parseLegacyAgentCard(await (await fetchImpl(`${url}?dialect=0.3`)).json())
  return { ...driveV1(await factory.createFromAgentCard(card)), ...{ listTasks: undefined as never } }
}

const driveV1 = (client: Client): OfficialClient => {
  const request = (text: string, returnImmediately = false) =>
    SendMessageRequest.fromJSON({
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
      configuration: { returnImmediately },
    })
  const pushOf = ({ id, url, authentication }: { id: string; url: string; authentication?: unknown }) =>
    `${id} ${url} ${(authentication as { scheme: string }).scheme}`
  const ids = { taskId: '', id: 'p-1', tenant: '' }
  return {
    send: async (text, isImmediate) => {
      const result = await client.sendMessage(request(text, isImmediate))
      return ('messageId' in result ? Message.toJSON(result) : Task.toJSON(result)) as JsonObject
    },
    stream: text => mapEvents(client.sendMessageStream(request(text)), StreamResponse.toJSON),
    getTask: async id => Task.toJSON(await client.getTask({ id, tenant: '', historyLength: 5 })) as JsonObject,
    listTasks: async () => {
      const page = { contextId: '', status: 0, pageSize: 50, pageToken: '', includeArtifacts: true }
      const listed = await client.listTasks({ ...page, tenant: '', historyLength: 1, statusTimestampAfter: undefined })
      return (ListTasksResponse.toJSON(listed) as { tasks: JsonObject[] }).tasks
    },
    cancel: async id => Task.toJSON(await client.cancelTask({ id, tenant: '', metadata: undefined })) as JsonObject,
    resubscribe: id => mapEvents(client.resubscribeTask({ id, tenant: '' }), StreamResponse.toJSON),
    setPush: async taskId => {
      const authentication = { scheme: 'Bearer', credentials: 'c' }
      return pushOf(
        await client.createTaskPushNotificationConfig({ ...ids, taskId, url: pushUrl, token: '', authentication }),
      )
    },
    getPush: async taskId => pushOf(await client.getTaskPushNotificationConfig({ ...ids, taskId })),
    listPush: async taskId => {
      const page = { tenant: '', pageSize: 10, pageToken: '' }
      return (await client.listTaskPushNotificationConfig({ ...page, taskId })).configs.map(pushOf)
    },
    deletePush: taskId => client.deleteTaskPushNotificationConfig({ ...ids, taskId }),
    describe: async () => (await client.getAgentCard()).description,
  }
}

// 0.3

type PushV03 = { pushNotificationConfig: { id?: string; url: string; authentication?: { schemes: string[] } } }

const pushOfV03 = ({ pushNotificationConfig: { id, url, authentication } }: PushV03) =>
  `${id} ${url} ${authentication?.schemes.join(' ')}`

const pushConfigV03 = (taskId: string) => ({
  taskId,
  pushNotificationConfig: {
    id: 'p-1',
    url: pushUrl,
    authentication: { schemes: ['Bearer'], credentials: 'c' },
  },
})

const messageV03 = (text: string) => ({
  kind: 'message' as const,
  messageId: crypto.randomUUID(),
  role: 'user' as const,
  parts: [{ kind: 'text' as const, text }],
})

const openV03 = (client: JsonRpcTransport | RestTransport): OfficialClient => ({
  send: async (text, isImmediate) => {
    const configuration = { blocking: !isImmediate }
    return toJson(await client.sendMessage({ message: messageV03(text), configuration }))
  },
  stream: text => mapEvents(client.sendMessageStream({ message: messageV03(text) }), event => event),
  getTask: async id => toJson(await client.getTask({ id, historyLength: 5 })),
  cancel: async id => toJson(await client.cancelTask({ id })),
  resubscribe: id => mapEvents(client.resubscribeTask({ id }), event => event),
  setPush: async taskId => pushOfV03(await client.setTaskPushNotificationConfig(pushConfigV03(taskId))),
  getPush: async id => pushOfV03(await client.getTaskPushNotificationConfig({ id, pushNotificationConfigId: 'p-1' })),
  listPush: async id => (await client.listTaskPushNotificationConfig({ id })).map(pushOfV03),
  deletePush: id => client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId: 'p-1' }),
  describe: async () => (await client.getExtendedAgentCard()).description,
})

/** Creates a push configuration in the form that the official server of 0.3 reads over HTTP+JSON, which its client does not send. */
export const createPushV03 = async (url: string, fetchImpl: typeof fetch, taskId: string): Promise<string> => {
  const { pushNotificationConfig } = pushConfigV03(taskId)
  const parent = `tasks/${taskId}`
  const response = await fetchImpl(`${url}/a2a/v1/${parent}/pushNotificationConfigs`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      ...{ parent, configId: 'p-1' },
      config: { name: `${parent}/pushNotificationConfigs/p-1`, pushNotificationConfig },
    }),
  })
  return pushOfV03((await response.json()) as PushV03)
}

// 0.2, whose push configurations have the id of their task

const openV02 = (url: string, fetchImpl: typeof fetch): OfficialClient => {
  const post = (method: string, params: Json) =>
    fetchImpl(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'c', method, params }),
    })
  const read = (response: Json): JsonObject => {
    const { id, result, error } = response as { id: Json; result: JsonObject; error?: { code: number } }
    if (id !== 'c') throw new Error(`another id: ${id}`)
    if (error) throw new RpcError(error.code)
    return result
  }
  const request = async (method: string, params: Json) => read((await (await post(method, params)).json()) as Json)
  async function* events(method: string, params: Json): AsyncIterable<JsonObject> {
    const response = await post(method, params)
    const found: string[] = []
    const parser = createParser({ onEvent: ({ data }) => found.push(data) })
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      parser.feed(chunk)
      for (const data of found.splice(0)) yield read(JSON.parse(data))
    }
  }
  const text = (config: JsonObject) => pushOfV03(config as unknown as PushV03).replace(/^\S+/, 'p-1')
  return {
    send: (sent, isImmediate) =>
      request('message/send', { message: messageV03(sent), configuration: { blocking: !isImmediate } }),
    stream: sent => events('message/stream', { message: messageV03(sent) }),
    getTask: id => request('tasks/get', { id, historyLength: 5 }),
    cancel: id => request('tasks/cancel', { id }),
    resubscribe: id => events('tasks/resubscribe', { id }),
    setPush: async taskId => {
      const { pushNotificationConfig } = pushConfigV03(taskId)
      const { id: _, ...config } = pushNotificationConfig
      return text(
        await request('tasks/pushNotificationConfig/set', {
          taskId,
          pushNotificationConfig: { ...config, id: taskId },
        }),
      )
    },
    getPush: async id => text(await request('tasks/pushNotificationConfig/get', { id })),
    listPush: async id => {
      const listed = (await request('tasks/pushNotificationConfig/list', { id })) as unknown as JsonObject[]
      return listed.map(text)
    },
    deletePush: id => request('tasks/pushNotificationConfig/delete', { id, pushNotificationConfigId: id }),
    describe: async () => `${(await request('agent/getAuthenticatedExtendedCard', {})).description}`,
  }
}

/** An error that a plain client reads, named as the official ones name theirs. */
class RpcError extends Error {
  constructor(code: number) {
    super(`JSON-RPC error ${code}`)
    this.name = NAMES[code] ?? `${code}`
  }
}

const NAMES: Readonly<Record<number, string>> = {
  [-32001]: 'TaskNotFoundError',
  [-32002]: 'TaskNotCancelableError',
  [-32004]: 'UnsupportedOperationError',
}

const toJson = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value))

async function* mapEvents<Event>(
  events: AsyncIterable<Event>,
  write: (event: Event) => unknown,
): AsyncIterable<JsonObject> {
  for await (const event of events) yield toJson(write(event))
}

/** Returns the names of the error that `call` throws and of its cause, without what names the binding. */
export const errorNameOf = async (call: () => Promise<unknown>): Promise<string> => {
  try {
    await call()
  } catch (error) {
    const errors = [error, error instanceof Error ? error.cause : undefined].filter(each => each instanceof Error)
    const names = errors.map(each => (each instanceof RpcError ? each.name : each.constructor.name))
    return names.map(name => name.replace(/^(JsonRpc|Rest)|JSONRPC/, '')).find(name => name !== 'Error') ?? `${error}`
  }
  return 'none'
}

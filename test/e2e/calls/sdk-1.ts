import {
  AgentCard,
  type Message,
  SendMessageRequest,
  type StreamResponse,
  type Task,
  taskStateToJSON,
} from '@a2a-js/sdk'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from '@a2a-js/sdk/client'
import { type Extras, fetchWith, type Sdk, type Session, type TaskFacts } from './session.ts'

/** `@a2a-js/sdk` 1.x over one binding; `compatible` with its v0.3 compatibility, which speaks 0.3 to agents of 0.3. */
export const sdk1 = (binding: Sdk['binding'], compatible = false): Sdk => ({
  title: `SDK 1.x over ${binding}${compatible ? ', with its v0.3 compatibility' : ''}`,
  version: compatible ? '0.3' : '1.0',
  binding,
  ...(compatible && { compatible }),
  connect: async (baseUrl, { token, extensions, believes } = {}): Promise<Session> => {
    const options = { fetchImpl: fetchWith(token), legacyCompat: { enabled: compatible } }
    const cardResolver = new DefaultAgentCardResolver(options)
    const factory = new ClientFactory({
      cardResolver,
      transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
      preferredTransports: [binding],
    })
    const card = await cardResolver.resolve(baseUrl)
    const client = await factory.createFromAgentCard({
      ...card,
      capabilities: { ...AgentCard.fromJSON(card).capabilities, ...believes } as never,
    })
    const request = extensions ? { serviceParameters: ServiceParameters.create(withA2AExtensions(...extensions)) } : {}
    const identified = (id: string) => ({ id, tenant: '' })
    return {
      card: {
        name: card.name,
        endpoints: card.supportedInterfaces.map(
          ({ protocolBinding, protocolVersion, url }) => `${protocolBinding} ${protocolVersion} ${url}`,
        ),
        skills: card.skills.map(({ id }) => id),
      },
      send: async (text, extras) => facts(await client.sendMessage(messageOf(text, extras), request)),
      stream: (text, extras) => told(client.sendMessageStream(messageOf(text, extras), request)),
      get: async (task, historyLength) => facts(await client.getTask({ ...identified(task), historyLength }, request)),
      cancel: async task => facts(await client.cancelTask({ ...identified(task), metadata: undefined }, request)),
      resubscribe: task => told(client.resubscribeTask(identified(task), request)),
      removePushConfig: taskId => client.deleteTaskPushNotificationConfig({ id: 'c', taskId, tenant: '' }, request),
      extendedSkills: async () => (await client.getAgentCard(request)).skills.map(({ id }) => id),
      ...(!compatible && {
        list: async () => {
          const { tasks } = await client.listTasks({ ...nothing, pageSize: 100 }, request)
          return tasks.map(({ id }) => id)
        },
      }),
    }
  },
})

/** A list of tasks with no filter. */
const nothing = {
  tenant: '',
  contextId: '',
  status: 0,
  pageToken: '',
  historyLength: undefined,
  statusTimestampAfter: undefined,
  includeArtifacts: undefined,
}

const messageOf = (text: string, { task, acceptedOutputModes, atOnce, picture, push }: Extras = {}) =>
  SendMessageRequest.fromJSON({
    message: {
      messageId: crypto.randomUUID(),
      role: 'ROLE_USER',
      taskId: task,
      parts: [{ text }, ...(picture ? [{ raw: 'iVBORw0KGgo=', mediaType: 'image/png', filename: 'a.png' }] : [])],
    },
    configuration: {
      acceptedOutputModes,
      returnImmediately: atOnce,
      taskPushNotificationConfig: push ? { id: 'c', url: 'https://hook.example.com/' } : undefined,
    },
  })

const facts = (task: Task | Message): TaskFacts => {
  if (!('status' in task)) throw new Error('not a task')
  return {
    id: task.id,
    state: stateOf(task.status),
    said: task.artifacts.flatMap(({ parts }) => parts.map(textOf)).join(''),
    history: task.history.length,
  }
}

async function* told(events: AsyncGenerator<StreamResponse>): AsyncGenerator<string> {
  for await (const { payload } of events) {
    if (payload?.$case === 'task' || payload?.$case === 'statusUpdate') yield stateOf(payload.value.status)
    else if (payload?.$case === 'artifactUpdate') yield payload.value.artifact?.parts.map(textOf).join('') ?? ''
    else throw new Error(`unexpected ${payload?.$case}`)
  }
}

const textOf = ({ content }: { content?: { $case: string; value: unknown } | undefined }): string =>
  content?.$case === 'text' ? String(content.value) : ''

const stateOf = (status: { state: number } | undefined): string =>
  taskStateToJSON(status?.state ?? 0)
    .replace('TASK_STATE_', '')
    .replace('_', '-')
    .toLowerCase()

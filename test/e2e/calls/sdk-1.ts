import { type Message, SendMessageRequest, type StreamResponse, type Task, taskStateToJSON } from '@a2a-js/sdk'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { fetchWith, type MessageOptions, type Sdk, type Session, type TaskSummary } from './session.ts'

/** `@a2a-js/sdk` 1.x over one binding. With `legacyCompat`, it speaks 0.3 to agents which speak nothing else. */
export const sdk1 = (binding: Sdk['binding'], legacyCompat = false): Sdk => ({
  title: `SDK 1.x over ${binding}${legacyCompat ? ', with its v0.3 compatibility' : ''}`,
  version: legacyCompat ? '0.3' : '1.0',
  binding,
  ...(legacyCompat && { legacyCompat }),
  connect: async (baseUrl, { token } = {}): Promise<Session> => {
    const options = { fetchImpl: fetchWith(token), legacyCompat: { enabled: legacyCompat } }
    const cardResolver = new DefaultAgentCardResolver(options)
    const factory = new ClientFactory({
      cardResolver,
      transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
      preferredTransports: [binding],
    })
    const card = await cardResolver.resolve(baseUrl)
    const client = await factory.createFromAgentCard(card)
    const reference = (id: string) => ({ id, tenant: '' })
    return {
      card: {
        name: card.name,
        endpoints: card.supportedInterfaces.map(
          ({ protocolBinding, protocolVersion, url }) => `${protocolBinding} ${protocolVersion} ${url}`,
        ),
        skills: card.skills.map(({ id }) => id),
      },
      send: async (text, extras) => summarizeTask(await client.sendMessage(messageOf(text, extras))),
      stream: (text, extras) => summarizeEvents(client.sendMessageStream(messageOf(text, extras))),
      get: async (task, historyLength) => summarizeTask(await client.getTask({ ...reference(task), historyLength })),
      cancel: async task => summarizeTask(await client.cancelTask({ ...reference(task), metadata: undefined })),
      resubscribe: task => summarizeEvents(client.resubscribeTask(reference(task))),
      removePushConfig: taskId => client.deleteTaskPushNotificationConfig({ id: 'c', taskId, tenant: '' }),
      extendedSkills: async () => (await client.getAgentCard()).skills.map(({ id }) => id),
      ...(!legacyCompat && {
        list: async () => {
          const { tasks } = await client.listTasks({ ...unfiltered, pageSize: 100 })
          return tasks.map(({ id }) => id)
        },
      }),
    }
  },
})

/** A request for the list of tasks without a filter. */
const unfiltered = {
  tenant: '',
  contextId: '',
  status: 0,
  pageToken: '',
  historyLength: undefined,
  statusTimestampAfter: undefined,
  includeArtifacts: undefined,
}

const messageOf = (text: string, { task, acceptedOutputModes, returnImmediately }: MessageOptions = {}) =>
  SendMessageRequest.fromJSON({
    message: {
      messageId: crypto.randomUUID(),
      role: 'ROLE_USER',
      taskId: task,
      parts: [{ text }],
    },
    configuration: {
      acceptedOutputModes,
      returnImmediately: returnImmediately,
    },
  })

const summarizeTask = (task: Task | Message): TaskSummary => {
  if (!('status' in task)) throw new Error('not a task')
  return {
    id: task.id,
    state: stateOf(task.status),
    text: task.artifacts.flatMap(({ parts }) => parts.map(textOf)).join(''),
    historyLength: task.history.length,
  }
}

async function* summarizeEvents(events: AsyncGenerator<StreamResponse>): AsyncGenerator<string> {
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

import type {
  Message,
  MessageSendParams,
  Part,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from 'a2a-sdk-v0.3'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from 'a2a-sdk-v0.3/client'
import { fetchWith, type MessageOptions, type Sdk, type Session, type TaskSummary } from './session.ts'

/** `@a2a-js/sdk` 0.3.x over one binding. */
export const sdk0 = (binding: Sdk['binding']): Sdk => ({
  title: `SDK 0.3.x over ${binding}`,
  version: '0.3',
  binding,
  connect: async (baseUrl, { token } = {}): Promise<Session> => {
    const fetchImpl = fetchWith(token)
    const card = await new DefaultAgentCardResolver({ fetchImpl }).resolve(baseUrl)
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
      preferredTransports: [binding],
    })
    const client = await factory.createFromAgentCard(card)
    return {
      card: {
        name: card.name,
        endpoints: [
          { transport: card.preferredTransport ?? 'JSONRPC', url: card.url },
          ...(card.additionalInterfaces ?? []),
        ].map(({ transport, url }) => `${transport} ${card.protocolVersion} ${url}`),
        skills: card.skills.map(({ id }) => id),
      },
      send: async (text, extras) => summarizeTask(await client.sendMessage(messageOf(text, extras))),
      stream: (text, extras) => summarizeEvents(client.sendMessageStream(messageOf(text, extras))),
      get: async (id, historyLength) =>
        summarizeTask(await client.getTask({ id, ...(historyLength !== undefined && { historyLength }) })),
      cancel: async id => summarizeTask(await client.cancelTask({ id })),
      resubscribe: id => summarizeEvents(client.resubscribeTask({ id })),
      removePushConfig: id => client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId: 'c' }),
      extendedSkills: async () => (await client.getAgentCard()).skills.map(({ id }) => id),
    }
  },
})

const messageOf = (
  text: string,
  { task, acceptedOutputModes, returnImmediately }: MessageOptions = {},
): MessageSendParams => ({
  message: {
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    ...(task !== undefined && { taskId: task }),
    parts: [{ kind: 'text', text }],
  },
  configuration: {
    ...(acceptedOutputModes && { acceptedOutputModes }),
    ...(returnImmediately && { blocking: false }),
  },
})

const summarizeTask = (task: Task | Message): TaskSummary => {
  if (task.kind !== 'task') throw new Error('not a task')
  return {
    id: task.id,
    state: task.status.state,
    text: (task.artifacts ?? []).flatMap(({ parts }) => parts.map(textOf)).join(''),
    historyLength: (task.history ?? []).length,
  }
}

async function* summarizeEvents(
  events: AsyncGenerator<Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent>,
): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.kind === 'task' || event.kind === 'status-update') yield event.status.state
    else if (event.kind === 'artifact-update') yield event.artifact.parts.map(textOf).join('')
    else throw new Error(`unexpected ${event.kind}`)
  }
}

const textOf = (part: Part): string => (part.kind === 'text' ? part.text : '')

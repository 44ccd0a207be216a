import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { type CalledHost, nextAddress, useSharedHost } from '../support/called-host.ts'
import { agentKinds, agentPath, createOfficialAgents, extendedDescription } from '../support/sdk/agents.ts'
import { createPushV03, errorNameOf, type OfficialClient, openClient, pushText } from '../support/sdk/clients.ts'

/** Every operation of every official client against every kind of official agent. */
let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
  const { origin } = called.agent
  called.agent.listenWith(createOfficialAgents(origin))
  for (const kind of agentKinds)
    await called.register(idOf(kind), {
      upstream: { card: `${origin}${agentPath(kind)}/card.json` },
      route: 'gateway',
      gate: { modes: 'off' },
    })
})
afterAll(() => called.close())
// The official servers log what they refuse.
beforeEach(() => {
  for (const level of ['error', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => undefined)
})

const idOf = (kind: string): string => `official-${kind.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`

const fetchImpl = ((input, { headers, ...init } = {}) => {
  const sent = new Headers(headers)
  sent.set('CF-Connecting-IP', nextAddress())
  return called.host.fetch(`${input}`.replace(called.host.url.origin, ''), {
    ...init,
    headers: Object.fromEntries(sent),
  })
}) as typeof fetch

// What clients read, in words that do not depend on the version

type Part = { text?: string; data?: unknown; raw?: string; url?: string; mediaType?: string; file?: File }
type File = { bytes?: string; uri?: string; mimeType?: string }

const partText = ({ text, data, raw, url, mediaType, file = {} }: Part): string => {
  const { bytes = raw, uri = url, mimeType = mediaType } = file
  if (text !== undefined) return text
  return data === undefined ? `${mimeType} ${bytes ?? uri}` : JSON.stringify(data)
}

const stateText = (state: unknown): string =>
  `${state}`
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')

/** Describes a task, message or update. */
const describeObject = (object: JsonObject): string => {
  const inner = (object.task ?? object.message ?? object.statusUpdate ?? object.artifactUpdate ?? object) as JsonObject
  const { parts, artifact, artifacts, status, final, append, lastChunk } = inner
  const list = (items: unknown) => (items as { parts: Part[] }[]).flatMap(item => item.parts.map(partText)).join(', ')
  if (parts) return `message: ${list([inner])}`
  if (artifact) return `artifact${append ? ' more' : ''}${lastChunk ? ' last' : ''}: ${list([artifact])}`
  const results = artifacts && (artifacts as unknown[]).length > 0 ? `: ${list(artifacts)}` : ''
  // Clients of 1.0 see that the stream ends.
  return `${stateText((status as JsonObject).state)}${final ? ' (final)' : ''}${results}`
}

const described = async (events: AsyncIterable<JsonObject>): Promise<string[]> =>
  (await Array.fromAsync(events)).map(describeObject)

const files = '{"rain":1}, image/png aGk=, text/csv https://files.example/a.csv'
const completed = `completed: It rains, ${files}`

/** The official clients of 0.3 over HTTP+JSON do not read that a chunk is appended. */
const readsAppend = (client: string): boolean => !client.endsWith('0.3 over HTTP+JSON')

const streamEvents = (client: string) => [
  'submitted',
  'working',
  'artifact: It rains',
  `artifact${readsAppend(client) ? ' more' : ''} last: ${files}`,
  client.startsWith('1.0') ? 'completed' : 'completed (final)',
]

/** Follows a task that waits, and cancels it after the first event. */
const followAndCancel = async (client: OfficialClient, id: string) => {
  const seen: string[] = []
  let canceled: Promise<JsonObject> | undefined
  for await (const event of client.resubscribe(id)) {
    seen.push(describeObject(event))
    canceled ??= client.cancel(id)
  }
  return [...seen, await canceled?.then(describeObject)]
}

describe.each(agentKinds)('an agent of %s', kind => {
  const url = () => `${called.host.url.origin}/agents/${idOf(kind)}`
  const clientNames = Object.keys(openClient)
  /** The official server of 0.3 over HTTP+JSON fails where it should answer a request for a stream with an error. */
  const isFaulty = kind === '0.3 over HTTP+JSON'
  /**
   * It does not read how clients of 0.3 over HTTP+JSON create push configurations either, which this host passes as they
   * are: it expects the whole request of the proto as the body, which by the proto is its `config` alone.
   */
  const isUnreadable = (name: string) => isFaulty && name.endsWith('0.3 over HTTP+JSON')

  /** Only 1.0 has lists of tasks. */
  const listOf = (name: string) => {
    if (!/^1.0 over/.test(name)) return ['none']
    return kind.startsWith('1.0') ? [completed, 'none'] : ['UnsupportedOperationError']
  }
  const keepPush = async (client: OfficialClient, name: string, id: string) => [
    await (isUnreadable(name) ? createPushV03(url(), fetchImpl, id) : client.setPush(id)),
    await client.getPush(id),
    await client.listPush(id),
    await client.deletePush(id).then(() => 'deleted'),
    await client.listPush(id),
  ]
  const findInList = async ({ listTasks }: OfficialClient, task: string) => {
    const found: string[] = []
    const error = await errorNameOf(async () => {
      for (const { id, ...listed } of (await listTasks?.()) ?? []) if (id === task) found.push(describeObject(listed))
    })
    return [...found, error]
  }

  it('answers every call of each client', async () => {
    const callAll = async (name: string) => {
      const client = await openClient[name]?.(url(), fetchImpl)
      if (!client) throw new Error('no client')
      const sent = await client.send('task')
      const id = `${sent.id}`
      const waiting = await client.send('wait', true)
      return {
        message: describeObject(await client.send('message')),
        task: describeObject(sent),
        stream: await described(client.stream('task')),
        question: (await described(client.stream('ask'))).at(-1),
        got: describeObject(await client.getTask(id)),
        history: ((await client.getTask(id)).history as JsonObject[]).length,
        followed: await followAndCancel(client, `${waiting.id}`),
        extended: await client.describe(),
        unknown: await errorNameOf(() => client.getTask('unknown')),
        unknownStream: await errorNameOf(() => described(client.resubscribe('unknown'))),
        ended: await errorNameOf(() => client.cancel(id)),
        push: await keepPush(client, name, id),
        listed: await findInList(client, id),
      }
    }
    // All at once: each client has tasks of its own.
    const found = await Promise.all(clientNames.map(async name => [name, await callAll(name)] as const))
    expect(found).toEqual(
      clientNames.map(name => {
        // The client with compatibility shows events of 1.0, without `final`.
        const final = name.startsWith('1.0') ? '' : ' (final)'
        const expected = {
          message: 'message: It rains',
          task: completed,
          stream: streamEvents(name),
          question: `input-required${final}`,
          got: completed,
          history: 1,
          followed: ['working', `canceled${final}`, 'canceled'],
          extended: extendedDescription,
          unknown: 'TaskNotFoundError',
          unknownStream: isFaulty ? expect.not.stringMatching(/^none$/) : 'TaskNotFoundError',
          ended: 'TaskNotCancelableError',
          push: [pushText, pushText, [pushText], 'deleted', []],
          listed: listOf(name),
        }
        return [name, expected]
      }),
    )
  })
})

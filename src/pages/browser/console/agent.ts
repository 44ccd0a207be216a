import './buffer.ts'
import type { Message, Part, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from '@a2a-js/sdk/client'
import { type AgentCard, type CallTarget, formOf, toTarget } from '../../../card/model/index.ts'
import { asObject, isJsonType } from '../../../json/index.ts'

/** A message as a person writes it, and how it is sent. */
export type Draft = {
  parts: Part[]
  skillId?: string
  acceptedOutputModes: string[]
  taskId: string
  contextId: string
  returnImmediately: boolean
}

/** One event of a call, in a stream or as the one response. */
export type CallEvent = NonNullable<StreamResponse['payload']>

/** The options of a call. */
export type CallOptions = { signal: AbortSignal; extensions: readonly string[] }

/** Returns the interfaces of a card that a browser can call. gRPC is not among them. */
export const callableEndpoints = ({ supportedInterfaces }: AgentCard): CallTarget[] =>
  supportedInterfaces.flatMap(each => toTarget(each) ?? [])

/** A task is polled after so many milliseconds, and then less and less often. */
const POLL_INTERVALS_MS = [500, 1000, 2000, 3000, 5000]
const MAX_POLLS = 200

/** The states in which the agent works: submitted and working. */
const RUNNING_STATES: ReadonlySet<number> = new Set([1, 2])

/** An agent at one endpoint of its card. */
export type Agent = Awaited<ReturnType<typeof connectAgent>>

/** Connects to an endpoint. The client assumes every capability, so that the person sees why calls are refused. */
export const connectAgent = async (card: AgentCard, endpoint: CallTarget, fetchImpl: typeof fetch) => {
  const { binding, version, url, tenant = '' } = endpoint
  let lastBody = Promise.resolve('')
  const keepBody: typeof fetch = async (...request) => {
    const response = await fetchImpl(...request)
    if (isJsonType(response.headers.get('Content-Type'))) lastBody = response.clone().text()
    // Only the extended card is read from it.
    lastBody.catch(() => {})
    return response
  }
  const options = { fetchImpl: keepBody, legacyCompat: { enabled: true } }
  const assumed = new DefaultAgentCardResolver().normalizeAgentCard({
    ...card,
    capabilities: { ...card.capabilities, streaming: true, extendedAgentCard: true },
    supportedInterfaces: [{ url, protocolBinding: binding, protocolVersion: version, tenant }],
  })
  const transports = [new JsonRpcTransportFactory(options), new RestTransportFactory(options)]
  const client = await new ClientFactory({ transports }).createFromAgentCard(assumed)

  const payloads = async function* (events: AsyncGenerator<StreamResponse>): AsyncGenerator<CallEvent> {
    // In 0.3 over HTTP+JSON, the SDK (1.3.0) drops `append` from artifacts. Agents rarely replace one in a stream.
    const isAppendDropped = formOf({ binding, version }) === 'proto-0.3'
    for await (const { payload } of events) {
      if (isAppendDropped && payload?.$case === 'artifactUpdate') payload.value.append = true
      if (payload) yield payload
    }
  }
  const toEvent = (value: Task): CallEvent => ({ $case: 'task', value })

  return {
    send: async function* (draft: Draft, options: CallOptions): AsyncGenerator<CallEvent> {
      const result = await client.sendMessage(createRequest(draft), requestOptions(options))
      yield 'messageId' in result ? { $case: 'message', value: result } : toEvent(result)
    },
    stream: (draft: Draft, options: CallOptions) =>
      payloads(client.sendMessageStream(createRequest(draft), requestOptions(options))),
    follow: (id: string, options: CallOptions) =>
      payloads(client.resubscribeTask({ id, tenant: '' }, requestOptions(options))),
    /** Reads a task until it ends, needs the person, or has been read very often, and yields it each time. */
    poll: async function* (id: string, options: CallOptions): AsyncGenerator<CallEvent> {
      for (let count = 0; count < MAX_POLLS; count += 1) {
        await wait(POLL_INTERVALS_MS[count] ?? 5000, options.signal)
        const task = await client.getTask({ id, tenant: '', historyLength: undefined }, requestOptions(options))
        yield toEvent(task)
        if (!RUNNING_STATES.has(task.status?.state ?? 0)) return
      }
    },
    cancel: async (id: string, options: CallOptions): Promise<CallEvent> =>
      toEvent(await client.cancelTask({ id, tenant: '', metadata: undefined }, requestOptions(options))),
    /** Reads the extended card as it was sent: the client itself returns its own model of it. */
    readExtendedCard: async (options: CallOptions): Promise<unknown> => {
      await client.getAgentCard(requestOptions(options))
      const document = JSON.parse(await lastBody)
      return binding === 'JSONRPC' ? document.result : document
    },
  }
}

const requestOptions = ({ signal, extensions }: CallOptions) => ({
  signal,
  ...(extensions.length > 0 && { serviceParameters: ServiceParameters.create(withA2AExtensions(...extensions)) }),
})

/** Waits, or rejects when the person stops. */
const wait = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => reject(signal.reason))
  })

/** A page of http has no `crypto.randomUUID`. */
const createId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')

const ROLE_USER = 1

const createRequest = (draft: Draft): SendMessageRequest => {
  const { parts, skillId, taskId, contextId, acceptedOutputModes, returnImmediately } = draft
  const message: Message = {
    ...{ messageId: createId(), contextId, taskId, role: ROLE_USER, parts, extensions: [], referenceTaskIds: [] },
    metadata: skillId === undefined ? undefined : { skillId },
  }
  const configuration = { acceptedOutputModes, taskPushNotificationConfig: undefined, returnImmediately }
  return { tenant: '', message, configuration, metadata: undefined }
}

/** Reads the skills of a card, which may be of any form. */
export const readSkills = (card: unknown): { id: string; name: string }[] =>
  [asObject(card).skills]
    .flat()
    .map(asObject)
    .flatMap(({ id, name }) => (typeof id === 'string' && typeof name === 'string' ? [{ id, name }] : []))

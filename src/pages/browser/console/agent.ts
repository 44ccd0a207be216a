import './buffer.ts'
import type { Message, Part, SendMessageRequest, StreamResponse } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from '@a2a-js/sdk/client'
import type { AgentCard } from '../../../card/model/index.ts'
import { isJsonType } from '../../../json/index.ts'

/** An interface of the card that a browser can call with the SDK. */
export type Endpoint = { binding: 'JSONRPC' | 'HTTP+JSON'; version: '1.0' | '0.3'; url: string; tenant: string }

/** A message as a person writes it, and how it is sent. */
export type Draft = {
  parts: Part[]
  skillId?: string
  acceptedOutputModes: string[]
  taskId: string
  contextId: string
  /** Whether to return before the task ends. */
  returnImmediately: boolean
}

/** One event of a call: each method yields those that the agent sends, whether in a stream or as one answer. */
export type CallEvent = NonNullable<StreamResponse['payload']>

/** How a call is made. */
export type CallOptions = { signal: AbortSignal; extensions: readonly string[] }

/** Returns the interfaces of a card that a browser can call. gRPC is not among them. */
export const callableEndpoints = ({ supportedInterfaces }: AgentCard): Endpoint[] =>
  supportedInterfaces.flatMap(({ url, protocolBinding, protocolVersion, tenant = '' }) => {
    const binding = (['JSONRPC', 'HTTP+JSON'] as const).find(name => name === protocolBinding.toUpperCase())
    const version = (['1.0', '0.3'] as const).find(name => name === /^\d+\.\d+/.exec(protocolVersion)?.[0])
    return binding && version ? [{ binding, version, url, tenant }] : []
  })

/** Creates a part without metadata. */
export const createPart = (content: NonNullable<Part['content']>, mediaType: string, filename = ''): Part => ({
  content,
  mediaType,
  filename,
  metadata: undefined,
})

/** A task is polled after so many milliseconds, and then less and less often. */
const POLL_INTERVALS_MS = [500, 1000, 2000, 3000, 5000]
const MAX_POLLS = 200

/** The states in which the agent works: submitted and working. */
const RUNNING_STATES: ReadonlySet<number> = new Set([1, 2])

/** An agent at one endpoint of its card. */
export class Agent {
  readonly #client: Client

  readonly #lastAnswer: () => Promise<string>

  private constructor(client: Client, lastAnswer: () => Promise<string>) {
    this.#client = client
    this.#lastAnswer = lastAnswer
  }

  /**
   * Connects to an endpoint. The client believes that the agent streams and has an extended card: it would not make other calls,
   * and the person would not see why they are refused.
   */
  static async connect(card: AgentCard, endpoint: Endpoint, fetchImpl: typeof fetch): Promise<Agent> {
    let lastAnswer = Promise.resolve('')
    const keepAnswer: typeof fetch = async (...request) => {
      const response = await fetchImpl(...request)
      if (isJsonType(response.headers.get('Content-Type')))
        lastAnswer = response
          .clone()
          .text()
          .catch(() => '')
      return response
    }
    const options = { fetchImpl: keepAnswer, legacyCompat: { enabled: true } }
    const { binding, version, url, tenant } = endpoint
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
    })
    const assumed = new DefaultAgentCardResolver().normalizeAgentCard({
      ...card,
      capabilities: { ...card.capabilities, streaming: true, extendedAgentCard: true },
      supportedInterfaces: [{ url, protocolBinding: binding, protocolVersion: version, tenant }],
    })
    return new Agent(await factory.createFromAgentCard(assumed), () => lastAnswer)
  }

  /** Sends a message and yields the one answer. */
  async *send(draft: Draft, options: CallOptions): AsyncGenerator<CallEvent> {
    const answer = await this.#client.sendMessage(createRequest(draft), requestOptions(options))
    yield 'messageId' in answer ? { $case: 'message', value: answer } : { $case: 'task', value: answer }
  }

  /** Sends a message and yields the events of the stream. */
  async *stream(draft: Draft, options: CallOptions): AsyncGenerator<CallEvent> {
    yield* this.#payloads(this.#client.sendMessageStream(createRequest(draft), requestOptions(options)))
  }

  /** Yields the further events of a task. */
  async *follow(id: string, options: CallOptions): AsyncGenerator<CallEvent> {
    yield* this.#payloads(this.#client.resubscribeTask({ id, tenant: '' }, requestOptions(options)))
  }

  async #get(id: string, options: CallOptions): Promise<CallEvent> {
    const request = { id, tenant: '', historyLength: undefined }
    return { $case: 'task', value: await this.#client.getTask(request, requestOptions(options)) }
  }

  /** Reads a task again and again, and yields it as it is then, until it ends, needs the person, or has been read very often. */
  async *poll(id: string, options: CallOptions): AsyncGenerator<CallEvent> {
    for (let count = 0; count < MAX_POLLS; count += 1) {
      await wait(POLL_INTERVALS_MS[Math.min(count, POLL_INTERVALS_MS.length - 1)] ?? 0, options.signal)
      const event = await this.#get(id, options)
      yield event
      if (event.$case !== 'task' || !RUNNING_STATES.has(event.value.status?.state ?? 0)) return
    }
  }

  /** Cancels a task and returns it as it is then. */
  async cancel(id: string, options: CallOptions): Promise<CallEvent> {
    const request = { id, tenant: '', metadata: undefined }
    return { $case: 'task', value: await this.#client.cancelTask(request, requestOptions(options)) }
  }

  /** In 0.3 over HTTP+JSON, the SDK (1.3.0) drops `append` from the pieces of an artifact. Agents rarely replace one in a stream. */
  async *#payloads(events: AsyncGenerator<StreamResponse>): AsyncGenerator<CallEvent> {
    const { protocolName, protocolVersion } = this.#client.transport
    const isAppendDropped = protocolName !== 'JSONRPC' && protocolVersion !== '1.0'
    for await (const { payload } of events) {
      if (isAppendDropped && payload?.$case === 'artifactUpdate') payload.value.append = true
      if (payload) yield payload
    }
  }

  /** Reads the extended card as it was sent: the client itself returns its own model of it. */
  async extendedCard(options: CallOptions): Promise<unknown> {
    await this.#client.getAgentCard(requestOptions(options))
    const document = JSON.parse(await this.#lastAnswer())
    return this.#client.transport.protocolName === 'JSONRPC' ? document.result : document
  }
}

const requestOptions = ({ signal, extensions }: CallOptions) => ({
  signal,
  ...(extensions.length > 0 && { serviceParameters: ServiceParameters.create(withA2AExtensions(...extensions)) }),
})

/** Waits, or rejects when the person stops. */
const wait = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })

/** A page of http has no `crypto.randomUUID`. */
const createId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')

const ROLE_USER = 1

const createRequest = (draft: Draft): SendMessageRequest => {
  const message: Message = {
    messageId: createId(),
    contextId: draft.contextId,
    taskId: draft.taskId,
    role: ROLE_USER,
    parts: draft.parts,
    metadata: draft.skillId === undefined ? undefined : { skillId: draft.skillId },
    extensions: [],
    referenceTaskIds: [],
  }
  const configuration = {
    acceptedOutputModes: draft.acceptedOutputModes,
    taskPushNotificationConfig: undefined,
    returnImmediately: draft.returnImmediately,
  }
  return { tenant: '', message, configuration, metadata: undefined }
}

/** Reads the skills of an extended card, which may be of any form. */
export const readSkills = (card: unknown): AgentCard['skills'] | undefined => {
  const { skills } = (card ?? {}) as { skills?: unknown }
  if (!Array.isArray(skills)) return undefined
  const strings = (value: unknown): string[] =>
    Array.isArray(value) ? value.filter(each => typeof each === 'string') : []
  return skills
    .filter(skill => typeof skill?.id === 'string' && typeof skill.name === 'string')
    .map(({ id, name, examples, inputModes, outputModes }) => ({
      id,
      name,
      description: '',
      tags: [],
      examples: strings(examples),
      inputModes: strings(inputModes),
      outputModes: strings(outputModes),
    }))
}

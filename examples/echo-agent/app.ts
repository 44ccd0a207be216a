import { AgentCard, type ListTasksRequest, type ListTasksResponse, type Task } from '@a2a-js/sdk'
import { A2AError } from '@a2a-js/sdk/errors'
import { DefaultRequestHandler, InMemoryTaskStore, type ServerCallContext, type TaskStore } from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express, { type Express } from 'express'
import { EchoExecutor } from './executor.ts'

const MAX_TASKS = 200

/** Creates the agent's own card, with endpoints at `origin`. `examples/cards/echo.yaml` is the same card as a manifest. */
export const createEchoCard = (origin = 'https://echo-agent.internal'): AgentCard =>
  AgentCard.fromJSON({
    name: 'Echo Agent',
    description: 'Repeats each message: at once, word by word, or after a question. It shows how A2A calls work.',
    version: '1.0.0',
    supportedInterfaces: ['1.0', '0.3'].flatMap(protocolVersion => [
      { url: `${origin}/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion },
      { url: `${origin}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion },
    ]),
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: 'echo',
        name: 'Echo',
        description: 'Answers with the text of the message, as an artifact.',
        tags: ['echo'],
        examples: ['hello'],
      },
      {
        id: 'stream',
        name: 'Stream',
        description: 'Answers word by word: each is an event of its own where the call is a stream.',
        tags: ['echo', 'streaming'],
        examples: ['stream one two three'],
      },
      {
        id: 'ask',
        name: 'Ask',
        description: 'Asks what to say, and says what the next message of the same task says.',
        tags: ['echo', 'input-required'],
        examples: ['ask'],
      },
      {
        id: 'slow',
        name: 'Slow',
        description:
          'Takes half a minute, so that there is time to look at the task, to come back to it or to cancel it.',
        tags: ['echo', 'cancel'],
        examples: ['slow'],
      },
    ],
  })

/** Creates the agent as an Express application with an empty task store. */
export const createEchoApp = (card = createEchoCard()): Express => {
  const requestHandler = new DefaultRequestHandler(
    card,
    new RecentTaskStore(),
    new EchoExecutor(),
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    { validateInputModes: true },
  )
  const options = {
    requestHandler,
    userBuilder: UserBuilder.noAuthentication,
    legacyCompat: { enabled: true },
  }
  return express()
    .disable('x-powered-by')
    .use('/.well-known/agent-card.json', agentCardHandler({ ...options, agentCardProvider: requestHandler }))
    .use('/jsonrpc', jsonRpcHandler(options))
    .use('/rest', restHandler(options))
}

/** The reasons of errors that are failures of the agent. */
const FAILURES = ['INTERNAL_ERROR', 'INVALID_AGENT_RESPONSE']

/**
 * Returns a `console.error` that leaves out what the agent refuses, such as another version or an unknown task. That is a
 * response and no failure, but the SDK logs it as an unhandled error, and has no option for that.
 */
export const withoutRefusals =
  (log: typeof console.error): typeof console.error =>
  (...values) => {
    if (!values.some(value => value instanceof A2AError && !FAILURES.includes(value.reason))) log(...values)
  }

/** Keeps the tasks that changed most recently in memory. The agent does not authenticate, so all callers share them. */
class RecentTaskStore implements TaskStore {
  readonly #tasks = new Map<string, Task>()

  async save(task: Task): Promise<void> {
    this.#tasks.delete(task.id)
    this.#tasks.set(task.id, structuredClone(task))
    for (const oldest of this.#tasks.keys()) {
      if (this.#tasks.size <= MAX_TASKS) return
      this.#tasks.delete(oldest)
    }
  }

  async load(id: string): Promise<Task | undefined> {
    return structuredClone(this.#tasks.get(id))
  }

  async list(request: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const pages = new InMemoryTaskStore()
    for (const task of this.#tasks.values()) await pages.save(task, context)
    return pages.list(request, context)
  }
}

import { AgentCard } from '@a2a-js/sdk'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { DefaultExecutionEventBusManager, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server'
import { parseJsonLossless } from '../a2a/jsonrpc.ts'
import type { WireVersion } from '../card/model/calls.ts'
import { isJsonObject, type JsonObject, omit } from '../json/json.ts'
import type { BridgeCall } from './bridge-call.ts'
import { ToolExecutor, type ToolOfMessage } from './executor.ts'
import type { Permit, ResponseSemaphore } from './large-answers.ts'
import { OneMessageHandler } from './one-message-handler.ts'
import type { RunningTasks } from './open-tasks.ts'
import { type AnswerForm, rpcResponse } from './rpc-response.ts'
import type { Principal } from './shares.ts'
import { AccountTaskStore } from './task-store.ts'
import type { TaskTable } from './task-table.ts'
import type { ToolClient } from './tool-client.ts'
import { logTool } from './tool-log.ts'
import { UnreadEvents } from './unread-events.ts'
import { watchedBody } from './watched-body.ts'

/** What an agent consists of beside the calls: its tasks, those whose tools run, and its server. */
type AgentContext = { rows: TaskTable; open: RunningTasks; large: ResponseSemaphore; server: ToolClient }

/** An A2A agent whose skills are the tools of an MCP server: JSON-RPC of A2A 1.0 and 0.3. */
export class ToolAgent {
  readonly #stock: AgentContext
  readonly #buses = new DefaultExecutionEventBusManager()
  readonly #unread = new UnreadEvents()

  constructor(stock: AgentContext) {
    this.#stock = stock
  }

  async answer(commission: BridgeCall, account: Principal): Promise<Response> {
    const hold = this.#stock.large.hold(account)
    const leave = hold.use()
    try {
      return delivered(await this.#answer(commission, account, hold), leave)
    } catch (error) {
      leave()
      throw error
    }
  }

  async #answer(commission: BridgeCall, account: Principal, hold: Permit): Promise<Response> {
    const { caller, version, call, id, streams } = commission
    const { rows, open } = this.#stock
    const form = { id, ...formOf(version, streams), open: () => this.#unread.stream(account) }
    const request = requestOf(call)
    const tasks = new AccountTaskStore(rows, account)
    if (!commission.tool && tasks.isLarge(request.params) && !(await hold.take()))
      return rpcResponse({ jsonrpc: '2.0', error: form.errorOf(crowded) }, form)
    const executor = new ToolExecutor(this.#toolOf(commission, hold), open, account)
    const handler = new OneMessageHandler(card, tasks, executor, this.#buses)
    const Transport = version === '0.3' ? LegacyJsonRpcTransportHandler : JsonRpcTransportHandler
    const user = { isAuthenticated: caller !== '', userName: caller }
    const context = new ServerCallContext({ requestedVersion: version, user })
    const answers = await new Transport(handler).handle(request, context)
    return rpcResponse(answers as Parameters<typeof rpcResponse>[0], form)
  }

  #toolOf({ agent, tool, upstream, patience: seconds }: BridgeCall, hold: Permit): ToolOfMessage | undefined {
    if (tool === undefined) return undefined
    const { server } = this.#stock
    const { name } = tool
    return {
      name,
      call: async terms => {
        const begun = Date.now()
        const leave = hold.use()
        try {
          const outcome = await server.call(upstream, name, argumentsOf(tool.arguments), { ...terms, seconds, hold })
          if (!terms.signal.aborted) logTool(agent, outcome, Date.now() - begun)
          return outcome
        } finally {
          // Once it has been told of.
          setTimeout(leave)
        }
      },
    }
  }
}

const formOf = (version: WireVersion, streams: boolean): Pick<AnswerForm, 'errorAsEvent' | 'errorOf'> =>
  version === '0.3'
    ? { errorAsEvent: streams, errorOf: LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError }
    : { errorAsEvent: false, errorOf: JsonRpcTransportHandler.mapToJSONRPCError }

const crowded = new Error('Too many large answers of this agent are under way. Try again later.')

/** A response that is left once it was read. Of a stream, what waits to be read is counted elsewhere. */
const delivered = (response: Response, leave: () => void): Response => {
  if (response.body && response.headers.get('Content-Type') === 'application/json')
    return new Response(watchedBody(response.body, { chunk: () => undefined, end: leave }), response)
  leave()
  return response
}

/** The host's own card is what callers read; this one says what the library asks it. */
const card = AgentCard.fromJSON({ capabilities: { streaming: true, pushNotifications: false } })

/** The call as the library takes it: whose it is, no caller says, and its id is written back as it was sent. */
const requestOf = (text: string): JsonObject => {
  const call: JsonObject = JSON.parse(text)
  return { ...call, id: 0, ...(isJsonObject(call.params) && { params: omit(call.params, 'tenant') }) }
}

const argumentsOf = (text: string): JsonObject => {
  const parsed = parseJsonLossless(text)
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : {}
}

import { AgentCard } from '@a2a-js/sdk'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { DefaultExecutionEventBusManager, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server'
import { parseCall } from '../a2a/exact-json.ts'
import { isObject, type JsonObject, without } from '../card/json.ts'
import type { Commission } from './commission.ts'
import { OneMessageHandler } from './one-message-handler.ts'
import type { OpenTasks } from './open-tasks.ts'
import { OwnedTasks } from './owned-tasks.ts'
import { rpcResponse } from './rpc-response.ts'
import type { TaskRows } from './task-rows.ts'
import { ToolExecutor, type ToolOfMessage } from './tool-executor.ts'
import { logTool } from './tool-log.ts'
import type { ToolServer } from './tool-server.ts'

/** What an agent consists of beside the calls: its tasks, those whose tools run, and its server. */
type Stock = { rows: TaskRows; open: OpenTasks; server: ToolServer }

/** An A2A agent whose skills are the tools of an MCP server: JSON-RPC of A2A 1.0 and 0.3. */
export class ToolAgent {
  readonly #stock: Stock
  readonly #buses = new DefaultExecutionEventBusManager()

  constructor(stock: Stock) {
    this.#stock = stock
  }

  async answer(commission: Commission): Promise<Response> {
    const { caller, version, call, id, streams } = commission
    const { rows, open } = this.#stock
    const executor = new ToolExecutor(this.#toolOf(commission), open)
    const handler = new OneMessageHandler(card, new OwnedTasks(rows, caller), executor, this.#buses)
    const Transport = version === '0.3' ? LegacyJsonRpcTransportHandler : JsonRpcTransportHandler
    const user = { isAuthenticated: caller !== '', userName: caller }
    const context = new ServerCallContext({ requestedVersion: version, user })
    const answers = await new Transport(handler).handle(requestOf(call), context)
    const errorOf =
      version === '0.3'
        ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError
        : JsonRpcTransportHandler.mapToJSONRPCError
    return rpcResponse(answers as Parameters<typeof rpcResponse>[0], {
      id,
      errorAsEvent: streams && version === '0.3',
      errorOf,
    })
  }

  #toolOf({ agent, tool, upstream, patience: seconds }: Commission): ToolOfMessage | undefined {
    if (tool === undefined) return undefined
    const { server } = this.#stock
    const { name } = tool
    return {
      name,
      call: async terms => {
        const begun = Date.now()
        const outcome = await server.call(upstream, name, argumentsOf(tool.arguments), { ...terms, seconds })
        if (!terms.signal.aborted) logTool(agent, outcome, Date.now() - begun)
        return outcome
      },
    }
  }
}

/** The host's own card is what callers read; this one says what the library asks it. */
const card = AgentCard.fromJSON({ capabilities: { streaming: true, pushNotifications: false } })

/** The call as the library takes it: whose it is, no caller says, and its id is written back as it was sent. */
const requestOf = (text: string): JsonObject => {
  const call: JsonObject = JSON.parse(text)
  return { ...call, id: 0, ...(isObject(call.params) && { params: without(call.params, 'tenant') }) }
}

const argumentsOf = (text: string): JsonObject => {
  const parsed = parseCall(text)
  return 'value' in parsed && isObject(parsed.value) ? parsed.value : {}
}

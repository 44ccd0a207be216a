import { lazyObject } from '../../registry/start.ts'
import type { RefreshCard } from './tool-bridge.ts'

/** Creates the class of the Durable Object of an agent that is an MCP server. */
export const createMcpServerAgent = (refreshCard: RefreshCard) =>
  lazyObject(
    (ctx: DurableObjectState, env: Env) =>
      import('./tool-bridge.ts').then(({ ToolBridge }) => new ToolBridge(ctx, env, refreshCard)),
    ['fetch', 'alarm'],
  )

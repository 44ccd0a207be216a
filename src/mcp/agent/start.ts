import { DurableObject } from 'cloudflare:workers'
import type { RefreshCard, ToolBridge } from './tool-bridge.ts'

/** The Durable Object of an agent that is an MCP server. Every start evaluates this class, but not its bridge. */
export abstract class McpServerAgent extends DurableObject<Env> {
  protected abstract readonly refreshCard: RefreshCard
  readonly #bridge: Promise<ToolBridge> = import('./tool-bridge.ts').then(
    ({ ToolBridge }) => new ToolBridge(this.ctx, this.env, (...args) => this.refreshCard(...args)),
  )

  override async fetch(request: Request): Promise<Response> {
    return (await this.#bridge).fetch(request)
  }

  override async alarm(): Promise<void> {
    return (await this.#bridge).alarm()
  }
}

import { DurableObject } from 'cloudflare:workers'
import type { ToolBridge } from './tool-bridge.ts'

/**
 * The Durable Object of an agent that is an MCP server. Every start of the Worker evaluates this class, so it loads the
 * bridge only with the first call.
 */
export class McpAgent extends DurableObject<Env> {
  #bridge: ToolBridge | undefined

  override async fetch(request: Request): Promise<Response> {
    return (await this.#load()).fetch(request)
  }

  override async alarm(): Promise<void> {
    await (await this.#load()).alarm()
  }

  async #load(): Promise<ToolBridge> {
    const { ToolBridge } = await import('./tool-bridge.ts')
    // A concurrent call may have created the bridge during the import.
    this.#bridge ??= new ToolBridge(this.ctx, this.env)
    return this.#bridge
  }
}

import { DurableObject } from 'cloudflare:workers'
import type { ToolBridge } from './tool-bridge.ts'

/**
 * The Durable Object of an agent that is an MCP server. This shell is part of every start of the Worker, and loads the bridge
 * with the first call.
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

import { DurableObject } from 'cloudflare:workers'
import type { ToolBridge } from './tool-bridge.ts'

/**
 * The Durable Object in which an MCP server is an A2A agent. All that it does is loaded when it is first called: whoever reads a
 * card does not wait for it.
 */
export class McpAgent extends DurableObject<Env> {
  #bridge: ToolBridge | undefined

  override async fetch(request: Request): Promise<Response> {
    return (await this.#loaded()).fetch(request)
  }

  override async alarm(): Promise<void> {
    await (await this.#loaded()).alarm()
  }

  async #loaded(): Promise<ToolBridge> {
    if (this.#bridge) return this.#bridge
    const { ToolBridge } = await import('./tool-bridge.ts')
    // Another call may have come here first.
    this.#bridge ??= new ToolBridge(this.ctx, this.env)
    return this.#bridge
  }
}

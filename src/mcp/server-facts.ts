import type { Client } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject } from '../json/json.ts'

/** What an MCP server says of itself as a session opens. */
export type ServerInfo = { protocolVersion: string; capabilities: JsonObject; serverInfo: JsonObject }

/**
 * What a server has said to `client`. `initialized` is its answer to `initialize` as it came: the client itself keeps of it only
 * what it knows of. Servers of a version without `initialize` said the same in their answer to `server/discover`.
 */
export const serverFacts = (client: Client, initialized: JsonObject | undefined): ServerInfo => ({
  protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
  capabilities: objectOf(initialized ? initialized.capabilities : client.getServerCapabilities()),
  serverInfo: objectOf(initialized ? initialized.serverInfo : client.getServerVersion()),
})

const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})

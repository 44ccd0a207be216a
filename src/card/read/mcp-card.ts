import { type JsonObject, without } from '../../json/json.ts'
import type { Manifest } from '../manifest/manifest.ts'
import { readAs } from '../model/calls.ts'
import { majorMinor } from '../model/protocol-version.ts'
import { endpointsOf } from './endpoint.ts'
import { readToolCard } from './mcp-tools.ts'
import type { Reading } from './provenance.ts'

/**
 * The document that was made of an MCP server as it is read: its skills are all tools, and its endpoint is the server's, or
 * the owner's own in front of it. The document itself, which is served to SuperX's readers, names none.
 */
export const mcpCard = (
  { upstream: { mcp, url } }: Pick<Manifest, 'upstream'>,
  document: JsonObject,
  reading: Reading,
): JsonObject => {
  const card = readToolCard(document, () => true, reading)
  if (mcp === undefined || endpointsOf(card).length > 0) return card
  if (url === undefined) return { protocol: 'mcp', ...card, url: mcp }
  const said = majorMinor(String(card.protocolVersion))
  const protocolVersion = readAs.has(said) ? said : '1.0'
  reading.fill('/supportedInterfaces', `set to JSONRPC of A2A ${protocolVersion} at \`upstream.url\``)
  return {
    ...without(card, 'protocol', 'protocolVersion'),
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion }],
  }
}

import { type JsonObject, omit } from '../../json/json.ts'
import type { Manifest } from '../manifest/manifest.ts'
import { wireVersionOf } from '../model/calls.ts'
import { majorMinor } from '../model/protocol-version.ts'
import { presentEndpointFields } from './endpoint.ts'
import { readToolCard } from './mcp-tools.ts'
import type { Provenance } from './provenance.ts'

/**
 * The document that was made of an MCP server as it is read: its skills are all tools, and its endpoint is the server's, or
 * the owner's own in front of it. The document itself, which is served to SuperX's readers, names none.
 */
export const withMcpEndpoint = (
  { upstream: { mcp, url } }: Pick<Manifest, 'upstream'>,
  document: JsonObject,
  reading: Provenance,
): JsonObject => {
  const card = readToolCard(document, () => true, reading)
  if (mcp === undefined || presentEndpointFields(card).length > 0) return card
  if (url === undefined) return { protocol: 'mcp', ...card, url: mcp }
  const said = majorMinor(String(card.protocolVersion))
  const protocolVersion = wireVersionOf.has(said) ? said : '1.0'
  reading.noteDefault('/supportedInterfaces', `set to JSONRPC of A2A ${protocolVersion} at \`upstream.url\``)
  return {
    ...omit(card, 'protocol', 'protocolVersion'),
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion }],
  }
}

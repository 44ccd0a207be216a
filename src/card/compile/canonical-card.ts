import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { detectDialect, dialects } from '../dialects/index.ts'
import { isBridged, type Manifest } from '../manifest/manifest.ts'
import { listTiers } from '../manifest/tiers.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { DialectName } from '../model/constants.ts'
import type { CardError } from '../model/report.ts'
import { fillDefaults } from '../read/defaults.ts'
import { presentEndpointFields } from '../read/interfaces.ts'
import { withMcpEndpoint } from '../read/mcp-tools.ts'
import { Provenance } from '../read/provenance.ts'
import { readAuthentication } from '../read/security-schemes.ts'
import { validateCard } from '../read/validate.ts'
import { bridgeCapabilities } from '../rewrite/mcp-bridge.ts'

/** A card with what its manifest says of it: where the agent is, when the card does not say, and that there is more to tell. */
const applyManifest = (manifest: Manifest, provenance: Provenance): JsonObject => {
  const card = withEndpoint(manifest)
  return listTiers(manifest).length > 0 ? withScheme(withExtendedCard(card, provenance), provenance) : card
}

/** The document that was made of an MCP server names no endpoint: mcp-card.ts reads it with one. */
const withEndpoint = ({ card, upstream: { url, mcp } }: Manifest): JsonObject =>
  url === undefined || mcp !== undefined || presentEndpointFields(card).length > 0 ? card : { ...card, url }

/** Each dialect says it in its own field; where a card has both, both. */
const withExtendedCard = (card: JsonObject, provenance: Provenance): JsonObject => {
  const flags = card.capabilities ?? {}
  const named = !isJsonObject(flags)
  if (named || flags.extendedAgentCard !== true)
    provenance.noteDefault('/capabilities/extendedAgentCard', 'set to true: the manifest has an extended card')
  return {
    ...card,
    ...(!named && { capabilities: { ...flags, extendedAgentCard: true } }),
    ...((named || 'supportsAuthenticatedExtendedCard' in card) && { supportsAuthenticatedExtendedCard: true }),
  }
}

/** Who is to read an extended card must know how to ask for it: with a token, where the author says nothing else. */
const withScheme = (card: JsonObject, provenance: Provenance): JsonObject => {
  if (declaresScheme(card)) return card
  const bearer = { type: 'http', scheme: 'bearer' }
  provenance.noteDefault(
    '/securitySchemes',
    `set to ${JSON.stringify({ bearer })}: the extended card is for callers with a token`,
  )
  return { ...card, securitySchemes: { bearer } }
}

/** What is no object is for the schema to name. */
const declaresScheme = ({ securitySchemes, security_schemes, authentication = null }: JsonObject): boolean => {
  const schemes = securitySchemes ?? security_schemes ?? undefined
  if (schemes !== undefined) return !isJsonObject(schemes) || Object.keys(schemes).length > 0
  return 'securitySchemes' in readAuthentication({ authentication }, new Provenance())
}

/** The origin of this host's absolute URLs in a card: `PUBLIC_URL`, else the agent's first host, else where it was registered. */
export const hostOrigin = (
  { hosts }: Manifest,
  { publicUrl, requestOrigin }: { publicUrl?: string | undefined; requestOrigin: string },
): string => {
  if (publicUrl) return publicUrl.replace(/\/+$/, '')
  const host = hosts.find(name => name !== '*')
  return host === undefined ? requestOrigin : `https://${host}`
}

/** A card that is sound, canonical and complete; and beside it what the author wrote, with what the manifest adds. */
export type CompleteCard = { card: AgentCard; authored: JsonObject; dialect: DialectName }

/** Reads the card of a manifest, in its dialect unless another is known, and fills its defaults; or why it is refused. */
export const readCanonicalCard = (
  manifest: Manifest,
  provenance: Provenance,
  known?: DialectName,
): CompleteCard | { errors: CardError[] } => {
  const isMcp = manifest.upstream.mcp !== undefined
  const authored = applyManifest(manifest, provenance)
  const dialect = known ?? (isMcp ? 'superx' : detectDialect(authored))
  const document = isMcp ? withMcpEndpoint(manifest, authored, provenance) : authored
  const flags = manifest.route === 'gateway' && isBridged(manifest) ? bridgeCapabilities : undefined
  const canonical = toCanonical(document, dialect, provenance, flags)
  const errors = validateCard(canonical, document, provenance)
  // Without errors the schema has just found it to be one; what is served is the author's own value, never a parser's copy.
  return errors.length > 0 ? { errors } : { card: canonical as AgentCard, authored, dialect }
}

/**
 * A document as a complete canonical card, its defaults filled; not yet checked against the schema. `flags` are known better
 * than the dialect knows them.
 */
export const toCanonical = (
  document: JsonObject,
  dialect: DialectName,
  provenance: Provenance,
  flags?: Record<string, boolean>,
): JsonObject => {
  const { read, capabilities } = dialects[dialect]
  return fillDefaults(read(document, provenance), flags ?? capabilities?.(document) ?? {}, provenance)
}

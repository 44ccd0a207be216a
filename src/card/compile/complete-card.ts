import type { JsonObject } from '../../json/json.ts'
import { detectDialect, dialects } from '../dialects/index.ts'
import { isBridged } from '../manifest/bridged.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { DialectName } from '../model/names.ts'
import type { CardError } from '../model/report.ts'
import { validateCard } from '../read/card-errors.ts'
import { fillDefaults } from '../read/defaults.ts'
import { withMcpEndpoint } from '../read/mcp-card.ts'
import type { Provenance } from '../read/provenance.ts'
import { bridgeCapabilities } from '../rewrite/mcp-bridge.ts'
import { applyManifest } from './canonical-card.ts'

/** A card that is sound, canonical and complete; and beside it what the author wrote, with what the manifest adds. */
export type CompleteCard = { card: AgentCard; authored: JsonObject; dialect: DialectName }

/** Reads the card of a manifest, in its dialect unless another is known, and fills its defaults; or why it is refused. */
export const readCanonicalCard = (
  manifest: Manifest,
  reading: Provenance,
  known?: DialectName,
): CompleteCard | { errors: CardError[] } => {
  const isMcp = manifest.upstream.mcp !== undefined
  const authored = applyManifest(manifest, reading)
  const dialect = known ?? (isMcp ? 'superx' : detectDialect(authored))
  const document = isMcp ? withMcpEndpoint(manifest, authored, reading) : authored
  const flags = manifest.route === 'gateway' && isBridged(manifest) ? bridgeCapabilities : undefined
  const canonical = toCanonical(document, dialect, reading, flags)
  const errors = validateCard(canonical, document, reading)
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
  reading: Provenance,
  flags?: Record<string, boolean>,
): JsonObject => {
  const { read, capabilities } = dialects[dialect]
  return fillDefaults(read(document, reading), flags ?? capabilities?.(document) ?? {}, reading)
}

import type { Compiled, compile } from '../card/compile/index.ts'
import type { Changes, Drift, Offer, VersionFinding } from '../card/diff/index.ts'
import { classifyChanges, findVersionFinding, isLessSevere } from '../card/diff/index.ts'
import { type LocatedManifest, readManifest } from '../card/manifest/index.ts'
import type { AgentCard, ChangeClass } from '../card/model/index.ts'
import type { Json } from '../json/index.ts'

/** One revision in an agent's history; `created` is in ms since 1970. */
export type RevisionRow = {
  seq: number
  created: number
  by: 'manifest' | 'fetch' | 'removal'
  /** `admin`, the id of a token, or `host` for a refresh by the host itself. */
  author: string
  /** The class of what changed for clients. */
  class?: ChangeClass
  /** The differences of the fetched document from the one before. */
  drift?: Drift
}

/**
 * One revision with what was registered and served, as JSON texts: the canonical card and those of the tiers, the base
 * tier first. A removal has neither, and no card is stored while a remote one has never been fetched.
 */
export type StoredRevision = RevisionRow & {
  origin?: string
  manifest?: string
  card?: string
  tiers: { tier: string; card: string }[]
  /** Signatures of this host in the documents of the newest revision, by their digests. */
  signatures?: Readonly<Record<string, string>>
}

/** The differences of a registration from the newest revision of its agent. */
type Comparison = {
  /** The changes for clients, if there are two cards to compare. */
  changes?: Changes
  /** An unsuitable version of the card after these changes, unless its manifest turns the check off. */
  finding?: VersionFinding
}

/**
 * Compares a compiled manifest with the newest revision of its agent. With `recompile`, which compiles that one for the
 * current host and upstream, the version has to announce only what the manifest itself changes, not what these have.
 */
export const compareWithLatest = (
  compiled: Compiled | undefined,
  latest: StoredRevision | null,
  recompile?: (read: LocatedManifest) => ReturnType<typeof compile>,
): Comparison => {
  const before = latest === null ? undefined : toOffer(latest)
  if (before === undefined || compiled === undefined) return {}
  const changes = classifyChanges(before, compiled)
  const findIn = ({ class: changeClass, changes: [first] }: Changes): VersionFinding | undefined => {
    const finding = findVersionFinding(changeClass, before.card.version, compiled.card.version)
    return finding && { ...finding, message: `${finding.message}: ${first?.message}` }
  }
  if (compiled.manifest.compatibility === 'off' || findIn(changes) === undefined) return { changes }
  const result = before.read && recompile?.(before.read)
  const recompiled = result && 'compiled' in result ? result.compiled : undefined
  const ownChanges = recompiled && classifyChanges(recompiled, compiled)
  const finding = findIn(ownChanges && isLessSevere(ownChanges.class, changes.class) ? ownChanges : changes)
  return { changes, ...(finding && { finding }) }
}

/** What a revision offered to clients, and its manifest as it is read. */
type EarlierOffer = Offer & { read?: LocatedManifest }

/** Returns what a revision offered; undefined for a removal, and where no card had been fetched yet. */
export const toOffer = ({ manifest, card, tiers }: StoredRevision): EarlierOffer | undefined => {
  if (manifest === undefined || card === undefined) return undefined
  // The manifest was valid when it was registered, and may not be by current rules. The cards are this host's own.
  const read = readManifest(JSON.parse(manifest) as Json)
  return {
    card: JSON.parse(card) as AgentCard,
    extended: tiers.map(({ tier, card }) => ({ tier, card: JSON.parse(card) as AgentCard })),
    ...('manifest' in read && { manifest: read.manifest, read }),
  }
}

import type { Compiled } from '../card/compile/index.ts'
import {
  type Changes,
  classifyChanges,
  findVersionFinding,
  isLessSevere,
  type Offer,
  type VersionFinding,
} from '../card/diff/index.ts'
import { readManifest } from '../card/manifest/index.ts'
import type { AgentCard } from '../card/model/index.ts'
import type { Json } from '../json/index.ts'
import type { Expected, WriteTerms } from './prepare.ts'
import type { StoredRevision } from './revision-record.ts'

/** The differences of a registration from the newest revision of its agent. */
type Comparison = {
  /** The newest revision; null for a new agent. */
  seq: number | null
  /** The changes for clients, if there are two cards to compare. */
  changes?: Changes
  /** An unsuitable version of the card after these changes, unless its manifest turns the check off. */
  finding?: VersionFinding
}

/** Compiles the manifest of an earlier revision for the current host and upstream; undefined if that is impossible. */
type Recompile = (document: Json) => Compiled | undefined

/**
 * Compares a compiled manifest with the newest revision of its agent. With `recompile`, the version has to announce
 * only what the manifest itself changes, and not what the host or the upstream has changed meanwhile.
 */
export const compareWithLatest = (
  compiled: Compiled | undefined,
  latest: StoredRevision | null,
  recompile?: Recompile,
): Comparison => {
  if (latest === null) return { seq: null }
  const { seq } = latest
  const before = toOffer(latest)
  if (before === undefined || compiled === undefined) return { seq }
  const changes = classifyChanges(before, compiled)
  const findIn = ({ class: changeClass, changes: [first] }: Changes): VersionFinding | undefined => {
    const finding = findVersionFinding(changeClass, before.card.version, compiled.card.version)
    return finding && { ...finding, message: `${finding.message}: ${first?.message}` }
  }
  if (compiled.manifest.compatibility === 'off' || findIn(changes) === undefined) return { seq, changes }
  const recompiled = latest.manifest === undefined ? undefined : recompile?.(JSON.parse(latest.manifest) as Json)
  const ownChanges = recompiled && classifyChanges(recompiled, compiled)
  const finding = findIn(ownChanges && isLessSevere(ownChanges.class, changes.class) ? ownChanges : changes)
  return { seq, changes, ...(finding && { finding }) }
}

/** Returns what a revision offered to clients; undefined for a removal, and where no card had been fetched yet. */
export const toOffer = ({ manifest, card, tiers }: StoredRevision): Offer | undefined => {
  if (manifest === undefined || card === undefined) return undefined
  // The manifest was valid when it was registered, and may not be by current rules. The cards are this host's own.
  const read = readManifest(JSON.parse(manifest) as Json)
  return {
    card: JSON.parse(card) as AgentCard,
    extended: tiers.map(({ tier, card }) => ({ tier, card: JSON.parse(card) as AgentCard })),
    ...('manifest' in read && { manifest: read.manifest }),
  }
}

/**
 * Adds the class of a comparison to the terms of a write. It is rejected if there is a newer revision, unless it
 * `isLast`: a busy agent must not be refused for the class. A revision that the terms expect already stays.
 */
export const withClass = (terms: WriteTerms, { seq, changes }: Comparison, isLast: boolean): WriteTerms => ({
  ...terms,
  ...(!isLast && { expected: { seq, ...terms.expected } satisfies Expected }),
  ...(changes && { changeClass: changes.class }),
})

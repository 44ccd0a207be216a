import type { Compiled } from '../card/compile/index.ts'
import { type Changes, classifyChanges } from '../card/diff/changes.ts'
import { findVersionFinding, type VersionFinding } from '../card/diff/compatibility.ts'
import type { AgentCard } from '../card/model/agent-card.ts'
import type { Expected, LatestCard, WriteTerms } from './records.ts'

/** How a registration differs from the newest revision of its agent. */
export type Comparison = {
  /** The newest revision; null for a new agent. */
  seq: number | null
  /** What changes for clients, if there are two cards to compare. */
  changes?: Changes
  /** What is wrong with the version of the card after these changes, unless its manifest does not want to know. */
  finding?: VersionFinding
}

/** Compares a compiled manifest with the newest revision of its agent. */
export const compareWithLatest = (compiled: Compiled | undefined, latest: LatestCard | null): Comparison => {
  if (latest === null) return { seq: null }
  const { seq, card } = latest
  if (card === null || compiled === undefined) return { seq }
  // What is stored was valid when it was compiled.
  const before = JSON.parse(card) as AgentCard
  const changes = classifyChanges(before, compiled.card)
  const isChecked = compiled.manifest.compatibility !== 'off'
  const finding = isChecked ? findVersionFinding(changes.class, before.version, compiled.card.version) : undefined
  if (finding === undefined) return { seq, changes }
  const reason = changes.changes[0]?.message
  return { seq, changes, finding: { ...finding, message: `${finding.message}: ${reason}` } }
}

/**
 * Returns the terms of a write whose class is that of a comparison. It is rejected if there is a newer revision, unless it
 * `isLast`: a busy agent must not be refused for the class.
 */
export const withClass = (terms: WriteTerms, { seq, changes }: Comparison, isLast: boolean): WriteTerms => ({
  ...terms,
  ...(!isLast && { expected: { ...terms.expected, seq } satisfies Expected }),
  ...(changes && { changeClass: changes.class }),
})

import * as v from 'valibot'
import { revisionNumber, strictObject } from '../../card/model/index.ts'
import type { RevisionRow, StoredRevision } from '../../registry/shared.ts'
import { anyObject, cursor, id, mapOf, seq, text, time, toTime } from './parts.ts'
import { Change, ChangeClass } from './registrations.ts'
import { Drift } from './sources.ts'

const revision = v.object({
  seq,
  created: time('When it was made.'),
  by: v.picklist(['manifest', 'fetch', 'removal']),
  author: text('`admin`, the id of a token, or `host` for a refresh that nobody requested.'),
  class: v.optional(ChangeClass),
  drift: v.optional(Drift),
})

export const RevisionList = v.object({ id, revisions: v.array(revision), cursor })

export const Revision = v.object({
  id,
  ...revision.entries,
  origin: v.optional(text('The origin of the absolute URLs at that time.')),
  manifest: v.optional(anyObject('The manifest as it was registered.')),
  card: v.optional(anyObject('The canonical card that was served.')),
  tiers: v.optional(mapOf(anyObject('A card.'), 'The extended cards that were served.')),
})
export type Revision = v.InferOutput<typeof Revision>

/** Returns a revision as a list has it. */
export const toRevisionRow = ({ created, ...row }: RevisionRow) => ({ ...row, created: toTime(created) })

/** Returns a revision with what was registered and served. */
export const toRevision = (id: string, { origin, manifest, card, tiers, ...row }: StoredRevision): Revision => ({
  ...{ id, ...toRevisionRow(row) },
  ...(origin !== undefined && { origin }),
  ...(manifest !== undefined && { manifest: JSON.parse(manifest) }),
  ...(card !== undefined && { card: JSON.parse(card) }),
  ...(tiers.length > 0 && { tiers: Object.fromEntries(tiers.map(({ tier, card }) => [tier, JSON.parse(card)])) }),
})

export const RevisionDiff = v.object({
  ...{ id, from: seq, to: seq },
  ...{ class: ChangeClass, changes: v.array(Change), manifest: Drift },
})

/** The body of `POST /agents/{id}/rollback`. */
export const RollbackRequest = strictObject({ seq: revisionNumber })

export const ChangeEvent = v.object({
  agent: id,
  seq,
  class: v.optional(ChangeClass),
  time: time('When the change was made.'),
})

import type { RepresentationName } from '../card/model/representation-names.ts'
import type { Precondition } from '../http/conditional.ts'
import type { Representation } from './kv-format.ts'
import type { PublishedHealth } from './source-health.ts'
import type { SourceRecord } from './source-record.ts'
import type { Extended } from './store/extended.ts'

/**
 * What a list of agents tells of one. `url` is the agent's preferred endpoint. Agents that an older host registered lack what
 * lists of SuperX and Shaman tell besides: the protocol, and the endpoint that Shaman's readers are sent to.
 */
export type Summary = {
  name: string
  description: string
  version: string
  url: string
  /** `a2a`, or `mcp` where the card is made of an MCP server. */
  protocol?: string
  shaman?: { url: string; preferredTransport: string }
}

/** A registration, compiled and hashed: all that is left is to keep and publish it. */
export type Registration = {
  id: string
  /** The manifest as JSON text, and its entity tag. */
  manifest: string
  manifestEtag: string
  visibility: 'public' | 'internal'
  hosts: readonly string[]
  origin: string
  summary: Summary
  /** None where the card is to come from elsewhere and never has. */
  representations: Partial<Record<RepresentationName, Representation>>
  /** The CallProfile as JSON. It is published beside the representations, and served to nobody. */
  profile: Representation
  /** The extended cards, the lowest tier first. */
  extended: Extended[]
  condition: Precondition
  /** Where the card comes from, if it is from elsewhere. */
  source?: SourceRecord
  /** When the source's answer was kept that this was made beside, if one was: where another has come since, it is too late. */
  beside?: { checked: number | undefined }
  /** What a refresh was made of, and under which lease: of another newest revision, or lease, it is too late. */
  refreshed?: { seq: number; lease: string }
}

/** What a write did to host names: those that are the agent's now, and every change of holder, to be published. */
export type HostChanges = { hosts: string[]; changed: HostChange[]; becameRoot: boolean }

/** Whose a host name is now, or null. `seq` orders the changes of one name. */
export type HostChange = { hostname: string; id: string | null; seq: number }

/** What came of a registration. */
export type Registered = {
  outcome: 'registered'
  seq: number
  /** In ms since 1970. */
  modified: number
  created: boolean
  /** False where the registration said what is registered already: then there is no new revision. */
  revised: boolean
  /** False where KV could not be written yet; the Registry goes on trying. */
  published: boolean
  /** The tiers of which there is an extended card no more. */
  tiersGone: string[]
  /** What the edge is told of the card's source. */
  told?: PublishedHealth
} & HostChanges

/** What came of a removal. */
export type Removed = {
  outcome: 'removed'
  seq: number
  published: boolean
  changed: HostChange[]
  tiersGone: string[]
}

/** Why a write was not made: nothing was changed. */
export type Rejection =
  | { outcome: 'precondition-failed'; exists: boolean }
  | { outcome: 'host-taken'; hostname: string; holder: string }
  | { outcome: 'host-not-held'; hostname: string }
  | { outcome: 'unknown-agent' }
  /** The source of the card was read by somebody else meanwhile. */
  | { outcome: 'overtaken' }

import * as v from 'valibot'
import { AgentCard } from './agent-card.ts'
import { checkBounds } from './bounds.ts'
import { fillDefaults } from './defaults.ts'
import type { DialectName } from './dialects/dialect.ts'
import { detectDialect, dialects } from './dialects/index.ts'
import { gatewayInterfaces } from './gateway.ts'
import { identifyOther } from './identify.ts'
import { isObject, type Json, type JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { lint } from './lint/index.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { type Pointer, pointer } from './pointer.ts'
import { Reading } from './reading.ts'
import type { CardError, Report } from './report.ts'
import { type RepresentationName, represent } from './representations.ts'
import { issueErrors } from './valibot-errors.ts'

/** A manifest made ready to be served. */
export type Compiled = {
  manifest: Manifest
  card: AgentCard
  report: Report
  documents: Record<RepresentationName, JsonObject>
  /** Where this host is, as its absolute URLs say it. */
  origin: string
}

/** What the host knows of a registration besides the document. */
export type Registration = {
  /** The agent's id. */
  id: string
  /** `PUBLIC_URL`, where it is set. */
  publicUrl?: string | undefined
  /** The origin that the registration was sent to. */
  requestOrigin: string
}

/**
 * Reads a manifest or a bare card, fills its defaults, checks and lints it, and writes every representation. Pure and
 * deterministic. A refusal lists every error found, each with a pointer into the document.
 */
export const compile = (
  document: Json,
  registration: Registration,
): { compiled: Compiled } | { errors: CardError[] } => {
  const bounds = checkBounds(document)
  if (bounds.length > 0) return { errors: bounds }
  const read = readManifest(document, registration.id)
  if ('errors' in read) return read
  const { manifest, cardAt } = read
  const within = (errors: CardError[]) => errors.map(error => ({ ...error, pointer: cardAt + error.pointer }))
  const other = identifyOther(manifest.card)
  if (other.length > 0) return { errors: within(other) }

  const authored = applyManifest(manifest)
  const dialect = detectDialect(authored)
  const reading = new Reading()
  const canonical = toCanonical(authored, dialect, reading)
  const errors = cardErrors(canonical, authored, reading)
  if (errors.length > 0) return { errors: within(errors) }

  const origin = hostOrigin(manifest, registration)
  let card = canonical as AgentCard
  if (manifest.route === 'gateway')
    card = { ...card, supportedInterfaces: gatewayInterfaces(card.supportedInterfaces, origin, registration.id) }
  const { documents, dropped } = represent(card, { dialect, document: authored }, manifest.route)
  return {
    compiled: {
      manifest,
      card,
      documents,
      origin,
      report: {
        dialect,
        filled: reading.filled,
        converted: reading.converted,
        dropped: droppedAsAuthored(dropped, reading),
        issues: lint({ card, authored, dialect, manifest, at: place => reading.authored(place) }),
      },
    },
  }
}

/** What the manifest says of the card itself: where the agent is when the card does not say, and that it has more to tell. */
const applyManifest = (manifest: Manifest): JsonObject => {
  let card = manifest.card as JsonObject
  const endpoint = manifest.upstream.url ?? manifest.upstream.mcp
  if (endpoint !== undefined && card.url === undefined && card.supportedInterfaces === undefined)
    card = { ...card, url: endpoint }
  const capabilities = card.capabilities ?? {}
  if ((manifest.extended || manifest.tiers) && isObject(capabilities))
    card = { ...card, capabilities: { ...capabilities, extendedAgentCard: true } }
  return card
}

/** A document as a complete canonical card, its defaults filled; not yet checked against the schema. */
export const toCanonical = (document: JsonObject, dialect: DialectName, reading: Reading): JsonObject => {
  const { read, capabilities } = dialects[dialect]
  return fillDefaults(read(document, reading), capabilities?.(document) ?? {}, reading)
}

const cardErrors = (canonical: JsonObject, authored: JsonObject, reading: Reading): CardError[] => {
  const result = v.safeParse(AgentCard, canonical)
  const errors = result.success ? [] : issueErrors(result.issues, place => reading.authored(place))
  if (!['url', 'supportedInterfaces', 'additionalInterfaces'].some(name => name in authored))
    return [
      ...errors.filter(error => error.pointer !== '/url'),
      { pointer: '/url', message: "is missing: add the agent's `url` to the card, or `upstream.url` to the manifest" },
    ]
  const skills = Array.isArray(canonical.skills) ? canonical.skills : []
  if (skills.length > limits.skills)
    errors.push({ pointer: '/skills', message: `holds ${skills.length} skills; at most ${limits.skills} are allowed` })
  return [...errors, ...duplicateSkills(skills, reading)]
}

const duplicateSkills = (skills: readonly Json[], reading: Reading): CardError[] => {
  const seen = new Map<string, number>()
  return skills.flatMap((skill, index) => {
    const id = isObject(skill) ? skill.id : undefined
    if (typeof id !== 'string') return []
    const first = seen.get(id)
    if (first === undefined) {
      seen.set(id, index)
      return []
    }
    return [
      {
        pointer: reading.authored(pointer('skills', index, 'id')),
        message: `"${id}" is the id of skill ${first} already`,
      },
    ]
  })
}

const hostOrigin = (manifest: Manifest, { publicUrl, requestOrigin }: Registration): string => {
  if (publicUrl) return publicUrl.replace(/\/+$/, '')
  const host = manifest.hosts.find(name => name !== '*')
  return host ? `https://${host}` : requestOrigin
}

/** Only what the author wrote can be dropped: a default that a dialect has no word for is no loss. */
const droppedAsAuthored = (dropped: Record<string, Pointer[]>, reading: Reading): Record<string, Pointer[]> => {
  const filled = new Set(reading.filled.map(note => note.pointer))
  return Object.fromEntries(
    Object.entries(dropped).flatMap(([name, places]) => {
      const kept = places.map(place => reading.authored(place)).filter(place => !filled.has(place))
      return kept.length > 0 ? [[name, kept]] : []
    }),
  )
}

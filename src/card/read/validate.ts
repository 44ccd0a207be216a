import { formatPointer, isJsonObject, type Json, type JsonObject, jsonEntries, type Pointer } from '../../json/json.ts'
import { MAX_INTERFACES, MAX_JSON_DEPTH, MAX_MEMBERS, MAX_SKILLS, MAX_STRING_LENGTH } from '../../limits.ts'
import { AgentCard } from '../model/agent-card.ts'
import type { CardError } from '../model/report.ts'
import { dedupeByPointer, validate } from '../model/schema.ts'
import { presentEndpointFields } from './interfaces.ts'
import type { Provenance } from './provenance.ts'

/** Names that reach an object's prototype when a reader copies members carelessly. */
const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

/** Names of fields that clients follow or show as links. */
const linkName = /(?:ur[li]s?|icon|logo|image|href|src|link|links|website|homepage|documentation)$/i

/** Schemes that run, or read local files, when a client follows them. */
const dangerousUrl = /^[\s\p{Cc}]*(?:javascript|data|vbscript|file|blob)[\s\p{Cc}]*:/iu

const credentials = /^\s*[a-z][a-z0-9+.-]*:[\\/]{2}[^\\/?#]*@/i

/**
 * What no document may hold anywhere: forbidden names, strings over the limit or that are not text, NUL, depth, more
 * members than anybody needs, numbers that JSON cannot carry, and URLs that act or hold a password. It goes first, and
 * not into what is over a limit: whatever read that would take its time.
 */
export const checkDocument = (document: Json): CardError[] => {
  const errors: CardError[] = []
  const add = (pointer: Pointer, message: string): void => {
    errors.push({ pointer, message })
  }
  const visit = (value: Json, place: Pointer, name: string, depth: number): void => {
    if (errors.length >= mostErrors) return
    const refused = valueError(value, name, depth)
    if (refused !== undefined) add(place, refused)
    else if (typeof value === 'object' && value !== null)
      for (const [member, inner] of jsonEntries(value)) {
        const at = place + formatPointer(member)
        const refused = nameError(member)
        if (refused === undefined) visit(inner, at, Array.isArray(value) ? name : member, depth + 1)
        else add(at, refused)
      }
  }
  visit(document, '', '', 0)
  return errors
}

/** More than this would help nobody. */
const mostErrors = 100

const nameError = (name: string): string | undefined =>
  forbiddenNames.has(name) ? `"${name}" is not allowed as a name` : textError(name)

const valueError = (value: Json, name: string, depth: number): string | undefined => {
  if (typeof value === 'string') return textError(value) ?? linkError(value, name)
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'is too large a number'
  if (typeof value !== 'object' || value === null) return undefined
  return depth >= MAX_JSON_DEPTH ? `nests deeper than ${MAX_JSON_DEPTH} levels` : countError(value, name)
}

const countError = (value: Json[] | JsonObject, name: string): string | undefined => {
  const isList = Array.isArray(value)
  const count = isList ? value.length : Object.keys(value).length
  const [kind] = (isList && /^skills$|interfaces$/i.exec(name)) || []
  const most = kind ? (kind === 'skills' ? MAX_SKILLS : MAX_INTERFACES) : MAX_MEMBERS
  const what = kind?.toLowerCase() ?? (isList ? 'items' : 'members')
  return count > most ? `holds ${count} ${what}; at most ${most} are allowed` : undefined
}

const textError = (value: string): string | undefined => {
  if (value.length > MAX_STRING_LENGTH)
    return `is ${value.length} characters long; at most ${MAX_STRING_LENGTH} are allowed`
  if (value.includes('\0')) return 'holds a NUL character'
  return value.isWellFormed() ? undefined : 'holds half a character (a lone surrogate), which is not text'
}

const linkError = (value: string, name: string): string | undefined => {
  if (!linkName.test(name)) return undefined
  if (dangerousUrl.test(value)) return 'must be an http or https URL, not one that runs or reads local data'
  return credentials.test(value) ? 'must not hold a user name or password' : undefined
}

/** Documents that are found where a card should be, by what gives them away. */
const others: readonly { name: string; at: string; is: (document: JsonObject) => boolean }[] = [
  {
    name: 'an ERC-8004 registration, not an A2A card',
    at: '/type',
    is: document => /eip-?8004|erc-?8004/i.test(String(document.type ?? '')),
  },
  {
    name: 'a directory of agents, not the card of one',
    at: '/agents',
    is: document => Array.isArray(document.agents) && !('skills' in document),
  },
  {
    name: 'a list of HTTP endpoints, not an A2A card',
    at: '/endpoints',
    is: document => Array.isArray(document.endpoints) && !('url' in document) && !('skills' in document),
  },
  {
    name: 'a description of an agent, but not an A2A card',
    at: '/agent',
    is: document => isJsonObject(document.agent) && !('name' in document),
  },
  {
    name: 'a description of an agent, but not an A2A card',
    at: '/capabilities',
    is: document =>
      !('skills' in document) && Array.isArray(document.capabilities) && !document.capabilities.every(isFlagName),
  },
]

const isFlagName = (name: Json): boolean =>
  typeof name === 'string' &&
  /^(?:streaming|push_?notifications|multi_?turn|extended_?agent_?card|state_?transition_?history)$/i.test(name)

/** What a document is when it is not an Agent Card, and which fields it lacks to be one; nothing when it may be a card. */
export const detectForeignDocument = (document: JsonObject): CardError[] => {
  const other = others.find(candidate => candidate.is(document))
  if (other === undefined) return []
  return [{ pointer: other.at, message: `is ${other.name}` }, ...missingFields(document)]
}

const missingFields = (document: JsonObject): CardError[] => {
  const missing = ['name', 'description', 'skills'].filter(name => !(name in document))
  if (!('url' in document)) missing.push('url')
  // A document can have all of v0.3's fields and still be of another kind; v1.0's endpoint list is what sets a card apart.
  if (missing.length === 0) missing.push('supportedInterfaces')
  return missing.map(name => ({ pointer: `/${name}`, message: 'is missing' }))
}

/** Why a canonical card is refused: each place once, in the words and at the pointers of the authored card. */
export const validateCard = (canonical: JsonObject, authored: JsonObject, provenance: Provenance): CardError[] => {
  const result = validate(AgentCard, canonical)
  return dedupeByPointer([
    ...endpointErrors(authored),
    ...provenance.errors,
    // A default made of a wrong value is wrong too, but only the value is the author's.
    ...('errors' in result ? result.errors : [])
      .filter(error => !provenance.isFilled(error.pointer))
      .map(error => ({ ...error, pointer: provenance.sourceOf(error.pointer) })),
    ...duplicateSkills(canonical, provenance),
  ])
}

const endpointErrors = (authored: JsonObject): CardError[] =>
  presentEndpointFields(authored).length > 0
    ? []
    : [
        {
          pointer: Array.isArray(authored.supportedInterfaces) ? '/supportedInterfaces' : '/url',
          message: "is missing: add the agent's `url` to the card, or `upstream.url` to the manifest",
        },
      ]

const duplicateSkills = ({ skills }: JsonObject, provenance: Provenance): CardError[] => {
  const ids = (Array.isArray(skills) ? skills : []).map(skill => (isJsonObject(skill) ? skill.id : undefined))
  const first = new Map(ids.map((id, index) => [id, index] as const).toReversed())
  return ids.flatMap((id, index) => {
    const other = first.get(id)
    if (typeof id !== 'string' || other === index) return []
    const message = `is "${id}", as that of ${provenance.sourceOf(formatPointer('skills', other ?? 0))} is: each skill needs its own id`
    return [{ pointer: provenance.sourceOf(formatPointer('skills', index, 'id')), message }]
  })
}

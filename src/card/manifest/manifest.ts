import * as v from 'valibot'
import { isLocalName } from '../../http/shared.ts'
import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { asObject, formatPointer, isJsonObject, omit } from '../../json/index.ts'
import { MAX_ALLOWED_SECRETS, MAX_AUDIENCES, MAX_TIERS } from '../../limits.ts'
import type { CallerPolicy, Finding } from '../model/index.ts'
import {
  addsCredential,
  agentIdPattern,
  baseTier,
  bridgeLevels,
  callerPolicies,
  hostList,
  jsonObject,
  record,
  singleLine,
  strictObject,
  unknownField,
  validate,
} from '../model/index.ts'
import { hiddenByDefault, readFrontMatter } from './front-matter.ts'
import { resolveSource, type Source, Upstream } from './upstream.ts'

const invalidId = 'must be 1 to 63 lowercase letters, digits and hyphens, beginning with a letter or digit'
const invalidPointer = 'must be a JSON Pointer into the manifest, such as /card/description'

/** A card or a part of one, without `$schema`, which is for the author's editor. */
const cardDocument = v.pipe(
  jsonObject('must be a JSON object'),
  v.transform(card => (Object.hasOwn(card, '$schema') ? omit(card, '$schema') : card)),
)
const gateLevel = v.picklist(['off', 'warn', 'enforce'], 'must be off, warn or enforce')

const tierName = v.pipe(
  v.string(),
  v.regex(
    /^[a-z][a-z0-9-]{0,31}$/,
    'is not a tier name: use 1 to 32 lowercase letters, digits and hyphens, beginning with a letter',
  ),
  v.notValue(baseTier, 'is the name of the tier that `extended` makes: choose another'),
)

/** An object that maps tier names, the lowest first, to values of one schema. */
const tierMap = <Value extends v.GenericSchema>(value: Value) =>
  v.pipe(
    record(value, 'must be an object with a member for each tier', tierName),
    v.maxEntries(MAX_TIERS, `must have at most ${MAX_TIERS} tiers`),
  )

/** One scope-token of RFC 6749 §3.3, where a space separates several. */
const scope = v.pipe(
  v.string('must be a scope, as a string'),
  v.regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/, 'must be one scope, without spaces or quotes'),
)

const claimValue = v.union(
  [v.string(), v.number(), v.boolean()],
  "must be the claim's value: a string, a number, true or false",
)

/** The access tokens that may read a tier: those with a scope, or those with a claim of one value. */
export const tierRule = v.lazy(value => {
  if (!isJsonObject(value) || 'scope' in value === 'claim' in value)
    return v.never('must be { scope } or { claim, equals }: which access tokens may read this tier')
  return 'scope' in value ? strictObject({ scope }) : strictObject({ claim: singleLine, equals: claimValue })
})

const audienceCount = `must have 1 to ${MAX_AUDIENCES} audiences`
const audienceList = v.pipe(
  v.array(singleLine, 'must be an audience, or a list of them'),
  v.nonEmpty(audienceCount),
  v.maxLength(MAX_AUDIENCES, audienceCount),
)

/**
 * The access tokens of the card's OpenID Connect issuers that may read what is not public: those with the scope and one
 * of the audiences, by default the agent's URL at this host. A tier's rule applies in addition.
 */
const JwtPolicy = strictObject(
  {
    audience: v.optional(v.lazy(value => (typeof value === 'string' ? singleLine : audienceList))),
    scope: v.optional(scope),
    tiers: v.optional(tierMap(tierRule), {}),
  },
  'must be an object with audience, scope or tiers',
)

/** How an agent's skills become tools for MCP clients: one each, one in all, or none. */
export const toolForms = ['skills', 'one', 'off'] as const
const toolsForm = 'must be skills, one or off'
const mcpForms = 'must be off, or an object with `tools`: skills, one or off'

const entries = {
  id: v.optional(v.pipe(v.string(), v.regex(agentIdPattern, invalidId))),
  card: cardDocument,
  extended: v.optional(cardDocument),
  tiers: v.optional(tierMap(cardDocument)),
  visibility: v.optional(v.picklist(['public', 'internal'], 'must be public or internal'), 'public'),
  hosts: v.optional(hostList, []),
  route: v.optional(v.picklist(['direct', 'gateway', 'closed'], 'must be direct, gateway or closed'), 'direct'),
  upstream: v.optional(Upstream, {}),
  gate: v.optional(
    strictObject(
      {
        ...v.entriesFromList(['capabilities', 'modes', 'extensions', 'version', 'responses'], v.optional(gateLevel)),
        tasks: v.optional(v.picklist(['owner', 'shared'], 'must be owner or shared')),
      },
      'must be an object that sets its checks to off, warn or enforce, and `tasks` to owner or shared',
    ),
    {},
  ),
  callers: v.optional(v.picklist(callerPolicies, 'must be anyone, tokens or issuer')),
  mcp: v.optional(
    v.lazy(value =>
      typeof value === 'string'
        ? v.literal('off', mcpForms)
        : strictObject({ tools: v.picklist(toolForms, toolsForm) }, mcpForms),
    ),
  ),
  bridge: v.optional(v.picklist(bridgeLevels, 'must be off, versions, bindings or all'), 'all'),
  compatibility: v.optional(gateLevel, 'warn'),
  signatures: v.optional(v.picklist(['keep', 'strip', 'resign'], 'must be keep, strip or resign'), 'keep'),
  jwt: v.optional(JwtPolicy),
  set: v.optional(v.pipe(v.string(), v.regex(agentIdPattern, invalidId))),
  allowSecrets: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(invalidPointer), v.regex(/^(?:\/(?:[^~/]|~[01])*)+$/, invalidPointer))),
      v.maxLength(MAX_ALLOWED_SECRETS, `must have at most ${MAX_ALLOWED_SECRETS} pointers`),
    ),
  ),
}

/** A card and how it is hosted, as an owner registers it. `json-schema.ts` describes the fields. */
export const Manifest = v.strictObject(entries, `${unknownField(entries)}. Fields of the card go under \`card\``)
export type Manifest = v.InferOutput<typeof Manifest>

/** A valid manifest, and how pointers into its card translate to pointers into its document. */
export type LocatedManifest = {
  document: Json
  manifest: Manifest
  /** The source of a remote card; undefined where the manifest contains the card. */
  source: Source | undefined
  /** Returns where a value of the manifest's card is in the authored card: front matter nests some of them. */
  authoredPointer: (pointer: Pointer) => Pointer
  /** Returns where a value of the manifest's card is in the document: under '/card', unless that is a bare card. */
  errorPointer: (pointer: Pointer) => Pointer
  /** The `$schema` of the card, which is no part of it. */
  schema: Json | undefined
  /** The additions to front matter. */
  filled: Finding[]
}

/** Reads a manifest, a bare card in any dialect, or Shaman's front matter, to be registered under `id`. */
export const readManifest = (document: Json, id?: string): LocatedManifest | { errors: Finding[] } => {
  if (id !== undefined && !agentIdPattern.test(id)) return invalid('/id', `"${id}" ${invalidId}`)
  const written = asManifest(document)
  const authored = written && omit(written, '$schema')
  const cardPointer = authored ? '/card' : ''
  const isRemote = authored !== undefined && hasRemoteCard(authored)
  const card = authored ? (authored.card ?? (isRemote ? {} : undefined)) : document
  const cardObject = asObject(card)
  if (!authored && cardObject.card === null)
    return invalid('', 'has an empty `card`: indent the fields of the card below it')
  const misplaced = manifestFields.filter(name => name in cardObject)
  if (misplaced.length > 0) return { errors: misplaced.map(name => describeMisplaced(name, cardPointer)) }
  const frontMatter = readFrontMatter(cardObject, isRemote)
  const exposed = frontMatter && cardObject.exposed
  if (exposed !== undefined && typeof exposed !== 'boolean')
    return invalid(`${cardPointer}/exposed`, 'must be true or false')
  const result = validate(Manifest, { ...frontMatter?.manifest, ...authored, card: frontMatter?.manifest.card ?? card })
  if ('errors' in result) return { errors: result.errors.map(error => describeError(error, cardPointer)) }
  const { output: manifest } = result
  if (id !== undefined && manifest.id !== undefined && manifest.id !== id)
    return invalid('/id', `is "${manifest.id}", but the agent is registered as "${id}": use one id`)
  const unknownTiers = findUnknownTiers(manifest)
  if (unknownTiers.length > 0) return { errors: unknownTiers }
  const authoredPointer = frontMatter?.locate ?? ((pointer: Pointer) => pointer)
  return {
    document,
    // The only A2A endpoint of an MCP server is this host's.
    manifest: authored?.route === undefined && isBridged(manifest) ? { ...manifest, route: 'gateway' } : manifest,
    source: resolveSource(manifest.upstream),
    schema: cardObject.$schema,
    authoredPointer,
    errorPointer: pointer => cardPointer + authoredPointer(pointer),
    filled: [
      ...(frontMatter && exposed === undefined && authored?.visibility === undefined ? [hiddenByDefault] : []),
      ...(frontMatter?.filled ?? []),
    ],
  }
}

/** Returns the id that a manifest declares. The `id` of a bare card is a field of the card. */
export const declaredId = (document: Json): string | undefined => {
  const id = asManifest(document)?.id
  return typeof id === 'string' ? id : undefined
}

/** Returns whether the card of a manifest is fetched. Then the manifest itself need not have one. */
export const hasRemoteCard = ({ upstream }: JsonObject): boolean =>
  isJsonObject(upstream) && (upstream.card !== undefined || upstream.mcp !== undefined)

/** The id of an agent, and the origins of its host: `PUBLIC_URL`, if it is set, and that of the registration. */
export type ManifestContext = { id: string; publicOrigin?: string | undefined; requestOrigin: string }

/**
 * Returns the origin of this host's URLs in a card: `PUBLIC_URL`, else the first host name, else that of the
 * registration. A host name through which the agent is registered keeps its port, and a local one its port and scheme;
 * a local one whose URLs no client of this host could use is an error.
 */
export const resolveOrigin = (
  { hosts }: Manifest,
  { publicOrigin, requestOrigin }: ManifestContext,
): { origin: string } | { errors: Finding[] } => {
  const host = hosts.find(name => name !== '*')
  if (publicOrigin !== undefined || host === undefined) return { origin: publicOrigin ?? requestOrigin }
  const { hostname, port, protocol } = new URL(requestOrigin)
  if (!isLocalName(host)) return { origin: hostname === host && port !== '' ? requestOrigin : `https://${host}` }
  if (isLocalName(hostname)) return { origin: `${protocol}//${host}${port && `:${port}`}` }
  const message =
    `begins with "${host}", which is no public host name: clients of ${hostname} could not use the URLs of the card. ` +
    'Begin with a host name of this host, or set PUBLIC_URL'
  return invalid('/hosts', message)
}

/** Returns whether this host answers the agent's calls itself, with the tools of an MCP server. */
export const isBridged = ({ upstream: { mcp, url } }: Pick<Manifest, 'upstream'>): boolean =>
  mcp !== undefined && url === undefined

/** Returns whether this host's bridge answers for the agent, with the bridge's own capabilities. */
export const isBehindBridge = (manifest: Manifest): boolean => manifest.route === 'gateway' && isBridged(manifest)

/**
 * Returns whether callers reach only their own tasks. That is the default where the host's own credential opens the
 * agent, so that all callers are one to it. The bridge to an MCP server separates them by itself.
 */
export const taskPolicy = ({ gate, upstream }: Manifest): 'owner' | 'shared' => {
  if (isBridged({ upstream })) return 'shared'
  return gate.tasks ?? (addsCredential(upstream) ? 'owner' : 'shared')
}

/**
 * Returns who may call the agent. Where the host adds its own credential and the manifest does not decide, these are
 * the callers that the host can check by the card: with a JWT of an issuer for an audience that the manifest names,
 * else with a token of the host.
 */
export const callerPolicy = ({ callers, jwt, upstream }: Manifest): CallerPolicy =>
  callers ?? (!addsCredential(upstream) ? 'anyone' : jwt?.audience === undefined ? 'tokens' : 'issuer')

/** The names that no card of any dialect has. Cards have `id` and `signatures` as well. */
export const manifestFields = Object.keys(entries).filter(name => !['id', 'card', 'signatures'].includes(name))

/** A merge patch over a card, and its pointer in the manifest. `toolsOnly`: the skills are MCP tools; it adds none. */
export type Overlay = { pointer: Pointer; patch: JsonObject; toolsOnly?: boolean }

/** Returns the tiers of a manifest with their overlays, the lowest first. The tier `base` may have none. */
export const listTiers = ({ extended, tiers = {} }: Manifest): [tier: string, overlay: Overlay | undefined][] => {
  const named = Object.entries(tiers)
  if (extended === undefined && named.length === 0) return []
  return [
    [baseTier, extended && { pointer: '/extended', patch: extended }],
    ...named.map(([name, patch]): [string, Overlay] => [name, { pointer: formatPointer('tiers', name), patch }]),
  ]
}

/** Returns the document if it is a manifest; undefined if it is a bare card. */
const asManifest = (document: Json): JsonObject | undefined =>
  isJsonObject(document) &&
  (isJsonObject(document.card) || (!('name' in document) && ['card', ...manifestFields].some(name => name in document)))
    ? document
    : undefined

/** Describes a manifest field in a card: it would have no effect, and would be published with it. */
const describeMisplaced = (name: string, cardPointer: Pointer): Finding => {
  const remedy =
    cardPointer === '' ? `move the card under \`card\`, and keep \`${name}\` next to it` : 'move it next to `card`'
  return {
    pointer: cardPointer + formatPointer(name),
    message: `is a field of the manifest, not of the card: ${remedy}`,
  }
}

const findUnknownTiers = ({ jwt, tiers = {} }: Manifest): Finding[] => {
  const names = Object.keys(tiers).join(', ')
  const unknown = Object.keys(jwt?.tiers ?? {}).filter(name => !Object.hasOwn(tiers, name))
  const message = `is not a tier of this manifest: ${names && `use ${names}, or `}add it to \`tiers\``
  return unknown.map(name => ({ pointer: formatPointer('jwt', 'tiers', name), message }))
}

const describeError = (error: Finding, cardPointer: Pointer): Finding => {
  const { pointer, message } = error
  if (pointer !== '/card') return error
  const advice = 'add the Agent Card, or its source as `upstream.card` or `upstream.mcp`'
  return { pointer: cardPointer, message: message === 'is missing' ? `${message}: ${advice}` : message }
}

const invalid = (pointer: Pointer, message: string): { errors: Finding[] } => ({ errors: [{ pointer, message }] })

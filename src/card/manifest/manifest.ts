import * as v from 'valibot'
import { isLocalName } from '../../http/shared.ts'
import { formatPointer, isJsonObject, type Json, type JsonObject, omit, type Pointer } from '../../json/index.ts'
import { MAX_ALLOWED_SECRETS } from '../../limits.ts'
import {
  addsCredential,
  agentIdPattern,
  bridgeLevels,
  type CallerPolicy,
  type CardError,
  callerPolicies,
  hostList,
  jsonObject,
  type Note,
  strictObject,
  unknownField,
  validate,
} from '../model/index.ts'
import { createFrontMatterLocator, generatedNotes, hiddenByDefault, readFrontMatter } from './front-matter.ts'
import { JwtPolicy, tierMap } from './tiers.ts'
import { Upstream } from './upstream.ts'

const invalidId = 'must be 1 to 63 lower-case letters, digits and hyphens, beginning with a letter or digit'
const invalidPointer = 'must be a JSON Pointer into the manifest, such as /card/description'

/** A card or a part of one. `$schema` is for the author's editor, and is no part of it. */
const cardDocument = v.pipe(
  jsonObject('must be a JSON object'),
  v.transform(card => (Object.hasOwn(card, '$schema') ? omit(card, '$schema') : card)),
)
const gateLevel = v.picklist(['off', 'warn', 'enforce'], 'must be off, warn or enforce')

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
        capabilities: v.optional(gateLevel),
        modes: v.optional(gateLevel),
        extensions: v.optional(gateLevel),
        version: v.optional(gateLevel),
        responses: v.optional(gateLevel),
        tasks: v.optional(v.picklist(['owner', 'shared'], 'must be owner or shared')),
      },
      'must be an object that sets its checks to off, warn or enforce, and `tasks` to owner or shared',
    ),
    {},
  ),
  /** Who may call the agent. */
  callers: v.optional(v.picklist(callerPolicies, 'must be anyone, tokens or issuer')),
  /** Which calls are translated to another version or binding of A2A. */
  bridge: v.optional(v.picklist(bridgeLevels, 'must be off, versions, bindings or all'), 'all'),
  /** What happens to a change that the version of the card does not announce. */
  compatibility: v.optional(gateLevel, 'warn'),
  /** What happens to the signatures of the card's author where this host serves another document than they cover. */
  signatures: v.optional(v.picklist(['keep', 'strip', 'resign'], 'must be keep, strip or resign'), 'keep'),
  jwt: v.optional(JwtPolicy),
  /** The name of the set of agents that an owner synchronizes together. */
  set: v.optional(v.pipe(v.string(), v.regex(agentIdPattern, invalidId))),
  /** The places of values that only look like secrets. */
  allowSecrets: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(invalidPointer), v.regex(/^(?:\/(?:[^~/]|~[01])*)+$/, invalidPointer))),
      v.maxLength(MAX_ALLOWED_SECRETS, `must have at most ${MAX_ALLOWED_SECRETS} pointers`),
    ),
  ),
}

/** What an owner registers: a card and how it is hosted. An unknown field is an error. */
export const Manifest = v.strictObject(entries, `${unknownField(entries)}. Fields of the card go under \`card\``)
export type Manifest = v.InferOutput<typeof Manifest>

/** A valid manifest, and how pointers into its card translate to pointers into the document. */
export type ParsedManifest = {
  manifest: Manifest
  /** Returns where a value of the manifest's card is in the authored card: front matter nests some of them. */
  authoredPointer: (pointer: Pointer) => Pointer
  /** Returns where a value of the manifest's card is in the document: under '/card', unless that is a bare card. */
  errorPointer: (pointer: Pointer) => Pointer
  /** The `$schema` of the card, which is no part of it. */
  schema: Json | undefined
  /** What was added to front matter. */
  filled: Note[]
}

/** Reads a manifest, a bare card in any dialect, or Shaman's front matter, to be registered under `id`. */
export const readManifest = (document: Json, id?: string): ParsedManifest | { errors: CardError[] } => {
  if (id !== undefined && !agentIdPattern.test(id)) return invalid('/id', `"${id}" ${invalidId}`)
  const written = asManifest(document)
  const authored = written && omit(written, '$schema')
  const misplaced = authored ? [] : findMisplacedFields(document)
  if (misplaced.length > 0) return { errors: misplaced }
  const cardPointer = authored ? '/card' : ''
  const isRemote = authored !== undefined && hasRemoteCard(authored)
  const card = authored ? (authored.card ?? (isRemote ? {} : undefined)) : document
  const cardObject = isJsonObject(card) ? card : {}
  const frontMatter = readFrontMatter(cardObject, isRemote)
  const exposed = frontMatter && cardObject.exposed
  if (exposed !== undefined && typeof exposed !== 'boolean')
    return invalid(`${cardPointer}/exposed`, 'must be true or false')
  const result = validate(Manifest, { ...frontMatter, ...authored, card: frontMatter?.card ?? card })
  if ('errors' in result) return { errors: result.errors.map(error => describeError(error, cardPointer)) }
  const errors = [...findUnknownTiers(result.output), ...findIdConflict(result.output, id)]
  if (errors.length > 0) return { errors }
  const authoredPointer = frontMatter ? createFrontMatterLocator(cardObject) : (pointer: Pointer) => pointer
  return {
    manifest: {
      ...result.output,
      route: authored?.route === undefined ? defaultRoute(result.output) : result.output.route,
    },
    schema: cardObject.$schema,
    authoredPointer,
    errorPointer: pointer => cardPointer + authoredPointer(pointer),
    filled: [
      ...(frontMatter && exposed === undefined && authored?.visibility === undefined ? [hiddenByDefault] : []),
      ...(frontMatter && !isRemote ? generatedNotes(cardObject) : []),
    ],
  }
}

/** Returns the id that a manifest declares. The `id` of a bare card is a field of the card. */
export const declaredId = (document: Json): string | undefined => {
  const id = asManifest(document)?.id
  return typeof id === 'string' ? id : undefined
}

/** Whether the card of a manifest is fetched. Then the manifest itself need not have one. */
export const hasRemoteCard = ({ upstream }: JsonObject): boolean =>
  isJsonObject(upstream) && (upstream.card !== undefined || upstream.mcp !== undefined)

/** The known origins of this host: that of `PUBLIC_URL`, if it is set, and that of the registration request. */
export type KnownOrigins = { publicOrigin?: string | undefined; requestOrigin: string }

/**
 * Returns the origin of this host's URLs in a card: `PUBLIC_URL`, else the first host name, else that of the registration. A host
 * name through which the agent is registered keeps its port, and one of this machine its port and scheme.
 */
export const resolveOrigin = ({ hosts }: Manifest, { publicOrigin, requestOrigin }: KnownOrigins): string => {
  if (publicOrigin !== undefined) return publicOrigin
  const host = firstHost(hosts)
  if (host === undefined) return requestOrigin
  const { hostname, port, protocol } = new URL(requestOrigin)
  if (isLocalName(host)) return `${protocol}//${host}${port && `:${port}`}`
  return hostname === host && port !== '' ? requestOrigin : `https://${host}`
}

/** Finds a host name that the URLs of the card would have, although no client of this host could use them. */
export const findLocalHost = ({ hosts }: Manifest, { publicOrigin, requestOrigin }: KnownOrigins): CardError[] => {
  const host = firstHost(hosts)
  const { hostname } = new URL(requestOrigin)
  if (publicOrigin !== undefined || host === undefined || !isLocalName(host) || isLocalName(hostname)) return []
  const message = `begins with "${host}", which is no public host name: clients of ${hostname} could not use the URLs of the card. Begin with a host name of this host, or set PUBLIC_URL`
  return [{ pointer: '/hosts', message }]
}

const firstHost = (hosts: Manifest['hosts']): string | undefined => hosts.find(name => name !== '*')

type BridgeFields = { upstream: { mcp?: string | undefined; url?: string | undefined } }

/** Whether this host answers the agent's calls itself, with the tools of an MCP server. */
export const isBridged = ({ upstream: { mcp, url } }: BridgeFields): boolean => mcp !== undefined && url === undefined

/**
 * Returns whether callers reach only their own tasks. That is the default where the host's own credential opens the agent, so that
 * all callers are one to it. The bridge to an MCP server separates them by itself.
 */
export const taskPolicy = ({ gate, upstream }: Pick<Manifest, 'gate' | 'upstream'>): 'owner' | 'shared' => {
  if (isBridged({ upstream })) return 'shared'
  return gate.tasks ?? (addsCredential(upstream) ? 'owner' : 'shared')
}

/**
 * Returns who may call the agent. Where the host adds its own credential and the manifest does not decide, these are
 * the callers that the host can check by the card: with a JWT of an issuer for an audience that the manifest names,
 * else with a token of the host.
 */
export const callerPolicy = ({
  callers,
  jwt,
  upstream,
}: Pick<Manifest, 'callers' | 'jwt' | 'upstream'>): CallerPolicy =>
  callers ?? (!addsCredential(upstream) ? 'anyone' : jwt?.audience === undefined ? 'tokens' : 'issuer')

/** The only A2A endpoint of an MCP server is this host's. */
const defaultRoute = (manifest: BridgeFields): 'direct' | 'gateway' => (isBridged(manifest) ? 'gateway' : 'direct')

/** The names that distinguish a manifest from a card: no dialect has fields with these names. Cards have `id` and `signatures` as well. */
export const manifestFields = Object.keys(entries).filter(name => !['id', 'card', 'signatures'].includes(name))

/** Returns the document if it is a manifest; undefined if it is a bare card. */
const asManifest = (document: Json): JsonObject | undefined =>
  isJsonObject(document) &&
  (isJsonObject(document.card) || (!('name' in document) && ['card', ...manifestFields].some(name => name in document)))
    ? document
    : undefined

/** Finds manifest fields in a bare card: they would have no effect, and would be published with it. */
const findMisplacedFields = (document: Json): CardError[] =>
  manifestFields
    .filter(name => isJsonObject(document) && name in document)
    .map(name => ({
      pointer: formatPointer(name),
      message: `is a field of the manifest, not of the card: move the card under \`card\`, and keep \`${name}\` next to it`,
    }))

const findUnknownTiers = ({ jwt, tiers = {} }: Manifest): CardError[] => {
  const names = Object.keys(tiers).join(', ')
  return Object.keys(jwt?.tiers ?? {})
    .filter(name => !Object.hasOwn(tiers, name))
    .map(name => ({
      pointer: formatPointer('jwt', 'tiers', name),
      message: `is not a tier of this manifest: ${names ? `use ${names}, or add it to \`tiers\`` : 'add it to `tiers`'}`,
    }))
}

const findIdConflict = (manifest: Manifest, id: string | undefined): CardError[] =>
  id === undefined || manifest.id === undefined || manifest.id === id
    ? []
    : [{ pointer: '/id', message: `is "${manifest.id}", but the agent is registered as "${id}": use one id` }]

const describeError = ({ pointer, message }: CardError, cardPointer: Pointer): CardError => {
  if (pointer !== '/card') return { pointer, message }
  const isMissing = message === 'is missing'
  return { pointer: cardPointer, message: isMissing ? `${message}: ${addCard}` : message }
}

const addCard = 'add the Agent Card, or its source as `upstream.card` or `upstream.mcp`'

const invalid = (pointer: Pointer, message: string): { errors: CardError[] } => ({ errors: [{ pointer, message }] })

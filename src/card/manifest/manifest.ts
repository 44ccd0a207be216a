import * as v from 'valibot'
import { formatPointer, isJsonObject, type Json, type JsonObject, type Pointer } from '../../json/json.ts'
import { MAX_HOSTS } from '../../limits.ts'
import { agentIdPattern } from '../model/constants.ts'
import type { CardError } from '../model/report.ts'
import { hostname, jsonObject, strictObject, validate } from '../model/schema.ts'
import { createFrontMatterLocator, readFrontMatter } from './front-matter.ts'
import { JwtPolicy, tierMap } from './tiers.ts'
import { Upstream } from './upstream.ts'

/** What of a manifest says so. */
type Bridging = { upstream: { mcp?: string | undefined; url?: string | undefined } }

/** Whether this host answers the calls of an agent itself, by calling the tools of an MCP server. */
export const isBridged = ({ upstream: { mcp, url } }: Bridging): boolean => mcp !== undefined && url === undefined

/** What a card advertises where its manifest does not say: an MCP server has no A2A endpoint but this host's. */
const defaultRoute = (manifest: Bridging): 'direct' | 'gateway' => (isBridged(manifest) ? 'gateway' : 'direct')

const object = jsonObject('must be a JSON object')
const idForm = 'must be 1 to 63 lower-case letters, digits and hyphens, the first no hyphen'
const level = v.picklist(['off', 'warn', 'enforce'], 'must be off, warn or enforce')
/** What an owner writes: a card, and how it is hosted (design §3). A field that is not here is an error. */
export const Manifest = v.strictObject({
  id: v.optional(v.pipe(v.string(), v.regex(agentIdPattern, idForm))),
  card: object,
  extended: v.optional(object),
  tiers: v.optional(tierMap(object)),
  visibility: v.optional(v.picklist(['public', 'internal'], 'must be public or internal'), 'public'),
  hosts: v.optional(
    v.pipe(
      v.array(hostname, 'must be a list of host names'),
      v.check(({ length }) => length <= MAX_HOSTS, `must hold at most ${MAX_HOSTS} host names`),
    ),
    [],
  ),
  route: v.optional(v.picklist(['direct', 'gateway', 'closed'], 'must be direct, gateway or closed'), 'direct'),
  upstream: v.optional(Upstream, {}),
  gate: v.optional(
    strictObject(
      {
        capabilities: v.optional(level),
        modes: v.optional(level),
        extensions: v.optional(level),
        version: v.optional(level),
      },
      'must be an object of off, warn or enforce',
    ),
    {},
  ),
  jwt: v.optional(JwtPolicy),
})
export type Manifest = v.InferOutput<typeof Manifest>

/** What only a manifest has beside its card: no dialect has fields of these names. */
const manifestFields = Object.keys(Manifest.entries).filter(name => name !== 'id' && name !== 'card')

/** A manifest that is sound. */
export type ParsedManifest = {
  manifest: Manifest
  /** Where the card stands in the document. */
  cardPointer: Pointer
  /** Where a place of the manifest's card was authored: front matter keeps parts of it elsewhere. */
  authoredPointer: (place: Pointer) => Pointer
  /** Whether the agent is internal only because its front matter does not say that it is exposed. */
  isHiddenByDefault: boolean
}

type ManifestReading = ParsedManifest | { errors: CardError[] }

/** Reads a manifest, a bare card in any dialect, or Shaman's front matter. */
export const readManifest = (document: Json, id?: string): ManifestReading => {
  if (id !== undefined && !agentIdPattern.test(id)) return refused('/id', `"${id}" ${idForm}`)
  const hosting = asManifest(document)
  const misplaced = hosting ? [] : misplacedErrors(document)
  if (misplaced.length > 0) return { errors: misplaced }
  const cardAt = hosting ? '/card' : ''
  const authored = hosting ? (hosting.card ?? (hasRemoteCard(hosting) ? {} : undefined)) : document
  const frontMatter = isJsonObject(authored) ? authored : {}
  const read = readFrontMatter(frontMatter, hosting !== undefined && hasRemoteCard(hosting))
  const { exposed } = read ? frontMatter : {}
  if (exposed !== undefined && typeof exposed !== 'boolean')
    return refused(`${cardAt}/exposed`, 'must be true or false')
  const source = { ...(hosting ? { ...read, ...hosting } : read), card: read ? read.card : authored }
  const result = validate(Manifest, source)
  if ('errors' in result)
    return { errors: result.errors.map(error => (error.pointer === '/card' ? { ...error, pointer: cardAt } : error)) }
  // The author's own documents, not the parser's copies of them.
  const { card, extended, tiers } = source as Pick<Manifest, 'card' | 'extended' | 'tiers'>
  const { route } = hosting?.route === undefined ? { route: defaultRoute(result.output) } : result.output
  const manifest = { ...result.output, route, card, ...(extended && { extended }), ...(tiers && { tiers }) }
  const unknown = unknownTiers(manifest)
  if (unknown.length > 0) return { errors: unknown }
  if (id !== undefined && manifest.id !== undefined && manifest.id !== id)
    return refused('/id', `is "${manifest.id}", but the card is being registered as "${id}"`)
  return {
    manifest,
    cardPointer: cardAt,
    authoredPointer: read ? createFrontMatterLocator(frontMatter) : place => place,
    isHiddenByDefault: read !== undefined && exposed === undefined && hosting?.visibility === undefined,
  }
}

const refused = (pointer: Pointer, message: string): ManifestReading => ({ errors: [{ pointer, message }] })

/** The tiers that tokens are to read and that are not there. */
const unknownTiers = ({ jwt, tiers = {} }: Manifest): CardError[] =>
  Object.keys(jwt?.tiers ?? {})
    .filter(name => !Object.hasOwn(tiers, name))
    .map(name => ({
      pointer: formatPointer('jwt', 'tiers', name),
      message: `is no tier of this manifest: ${Object.keys(tiers).join(', ') || 'it has none'}`,
    }))

/** The document, where it is a manifest and not a bare card. */
const asManifest = (document: Json): JsonObject | undefined =>
  isJsonObject(document) &&
  (isJsonObject(document.card) || (!('name' in document) && ['card', ...manifestFields].some(name => name in document)))
    ? document
    : undefined

/** Where the card itself is fetched from elsewhere, there may be nothing to say of it here. */
export const hasRemoteCard = ({ upstream }: JsonObject): boolean =>
  isJsonObject(upstream) && (upstream.card !== undefined || upstream.mcp !== undefined)

/** What a bare card holds that belongs beside it: published with the card, it would show what it was to hide. */
const misplacedErrors = (document: Json): CardError[] =>
  manifestFields
    .filter(name => isJsonObject(document) && name in document)
    .map(name => ({
      pointer: formatPointer(name),
      message: `\`${name}\` belongs to a manifest: put the card under \`card\`, and this beside it`,
    }))

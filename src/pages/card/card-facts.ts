import { agentNotFound, loadCard } from '../../api/index.ts'
import { authenticate } from '../../auth/index.ts'
import { mcpHeaders } from '../../card/index.ts'
import { type AgentCard, cardUrl, type RepresentationName } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { parseUrl, type RequestContext } from '../../http/index.ts'
import type { Json, JsonObject } from '../../json/index.ts'
import { type CachedDocument, readDocument, readExtended, readProfile, readReceipt } from '../../registry/edge/index.ts'
import type { CardSigning, SignedDocuments } from './signing.ts'

/** The data of a card page. */
export type CardFacts = Awaited<ReturnType<typeof loadFacts>>['facts']

/** Loads what the page of an agent shows, and a representation of its card. Throws if the caller may not read it. */
export const loadFacts = async (id: string, representation: RepresentationName, context: RequestContext) => {
  const { request, env, ctx } = context
  // Invalid credentials count each time they are checked, and the page has up to four documents.
  const caller = await authenticate(request, env, ctx)
  const load = async (name: RepresentationName): Promise<CachedDocument> => {
    const document = await loadCard(id, name, context, { caller })
    if (!document) throw agentNotFound(id)
    return document
  }
  const current = await load('1.0')
  const card = (await parseBody(current)) as AgentCard & JsonObject
  const documents = { '1.0': current, 'agent-card.json': await load('agent-card.json'), '0.3': await load('0.3') }
  const document: Json = representation === '1.0' ? card : await parseBody(await load(representation))
  const profile = await readProfile(id, env, ctx)
  const route = profile?.route ?? 'direct'
  const own = new URL(config(env).publicOrigin ?? request.url)
  const routed = route === 'gateway' ? parseUrl(card.supportedInterfaces[0]?.url ?? '') : null
  const { origin } = routed ?? own
  const facts = {
    ...{ id, route, cardUrl: cardUrl({ origin, id }) },
    /** The representation of A2A 1.0, which this host wrote with the types of the schema. Every string is untrusted. */
    card: card as AgentCard,
    /** The origin of this host's URLs of the agent. */
    origin,
    /** The origin of this host itself. That of the URLs of an agent can be one that only its owner names. */
    hostOrigin: own.origin,
    signing: await loadSigning(documents, [origin, own.origin], env),
    visibility: profile?.visibility ?? 'public',
    moreSkills: await countMoreSkills(id, card, context),
    modified: new Date(current.modified),
    /** The tools of an agent that is an MCP server. */
    tools: profile?.mcp?.tools ?? [],
    /** The address for MCP clients, and the headers that they send. */
    mcpServer:
      profile?.mcpServer && config(env).offersMcp
        ? { url: profile.mcpServer.url, headers: mcpHeaders(card as AgentCard, profile) }
        : undefined,
    /** Set for a card that this host fetches from the agent. */
    source: current.source,
    check: await loadCheck(id, context),
  }
  return { facts, document }
}

/** Counts the skills that a token without a tier shows besides those of the public card. */
const countMoreSkills = async (id: string, { skills }: AgentCard, { env, ctx }: RequestContext): Promise<number> => {
  const tier = (await readProfile(id, env, ctx))?.tiers[0]
  const extended = tier === undefined ? null : await readExtended({ id, tier, name: '1.0' }, env, ctx)
  if (!extended) return 0
  const all = ((await parseBody(extended)) as AgentCard & JsonObject).skills
  return all.filter(({ id }) => skills.every(skill => skill.id !== id)).length
}

/** Loads the newest receipt of an agent, as of `now` in ms since 1970, and whether it is about the current card. */
const loadCheck = async (id: string, { env, ctx }: RequestContext) => {
  const stored = await readReceipt(id, env, ctx)
  if (stored === null) return undefined
  // The entity tag of an internal agent is not at the edge.
  const etag = (await readDocument(id, 'agent-card.json', env, ctx))?.etag
  return { ...stored, current: etag === undefined || etag === stored.receipt.card.etag, now: Date.now() }
}

/** Parses a document that this host wrote. */
const parseBody = ({ body }: CachedDocument): Promise<JsonObject> => new Response(body).json()

/** The signers of cards, by entity tags: to verify signatures takes longer than all else of a page. */
const knownSigning = new Map<string, CardSigning>()
const MAX_KNOWN_SIGNING = 50

/** Returns who signed a card. What verifies signatures is loaded only if there are some. `origins` are this host's. */
const loadSigning = async (documents: SignedDocuments<CachedDocument>, origins: readonly string[], env: Env) => {
  const key = [...Object.values(documents).map(({ etag }) => etag), ...origins].join(' ')
  const known = knownSigning.get(key)
  if (known) return known
  const entries = Object.entries(documents).map(async ([name, document]) => [name, await parseBody(document)] as const)
  const parsed = Object.fromEntries(await Promise.all(entries)) as SignedDocuments<JsonObject>
  const hasNone = Object.values(parsed).every(({ signatures }) => signatures === undefined)
  const none: CardSigning = { signers: [] }
  const signing = hasNone ? none : await (await import('./signing.ts')).findSigning(parsed, origins, env)
  if (knownSigning.size >= MAX_KNOWN_SIGNING) knownSigning.clear()
  knownSigning.set(key, signing)
  return signing
}

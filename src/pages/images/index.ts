import { agentNotFound, loadCard } from '../../api/index.ts'
import { type AgentCard, agentIdPattern } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import {
  CORS_HEADERS,
  type Handler,
  matchesIfNoneMatch,
  PRIVATE_NO_STORE,
  type RequestContext,
  strongEtag,
} from '../../http/index.ts'
import { type CachedDocument, readDocument, readReceipt } from '../../registry/edge/index.ts'
import { isStale, staleHeaders } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { countPage } from '../layout/index.ts'
import { checkedSegment, renderBadge } from './badge.ts'
import { CARD_STYLE, renderBusinessCard } from './card-image.ts'

export { type Monogram, monogramOf, renderMonogram } from './monogram.ts'

/** `GET /agents/{id}/card.svg`: the business card of an agent, for READMEs. */
export const getCardImage: Handler = (request, env, ctx, { id = '' }) =>
  respondWithPicture(id, { request, env, ctx }, card => {
    const { origin } = new URL(config(env).publicOrigin ?? request.url)
    return renderBusinessCard({ id, card, url: `${origin}/agents/${id}` })
  })

/**
 * `GET /agents/{id}/badge.svg`: the versions of A2A that the card of an agent declares, for READMEs; with `?show=receipt`, also what its
 * newest check has shown.
 */
export const getBadge: Handler = (request, env, ctx, { id = '' }) =>
  respondWithPicture(id, { request, env, ctx }, async card => {
    if (new URL(request.url).searchParams.get('show') !== 'receipt') return renderBadge(card)
    const stored = await readReceipt(id, env, ctx)
    const etag = stored ? await readCardEtag(id, { request, env, ctx }) : undefined
    return renderBadge(card, checkedSegment(stored?.receipt, etag, Date.now()))
  })

/** Reads the entity tag of the card that checks are about, also where the caller gets an extended card. That of an internal agent is not at the edge. */
const readCardEtag = async (id: string, { env, ctx }: RequestContext): Promise<string | undefined> =>
  ((await readDocument(id, 'agent-card.json', env, ctx)) ?? (await getRegistry(env).document(id, 'agent-card.json')))
    ?.etag

/** Answers with a picture of the card that the caller may read, whose hybrid has all that pictures show. */
const respondWithPicture = async (
  id: string,
  context: RequestContext,
  render: (card: AgentCard) => ReturnType<typeof renderBadge> | Promise<string>,
): Promise<Response> => {
  await countPage(context.request, context.env)
  const document = agentIdPattern.test(id) ? await loadCard(id, 'agent-card.json', context) : null
  if (!document) throw agentNotFound(id)
  const card: AgentCard = JSON.parse(new TextDecoder().decode(document.body))
  return pictureResponse(String(await render(card)), document, context)
}

/** Returns the response with a picture, or 304, cached as the card that it shows. */
const pictureResponse = async (
  svg: string,
  { source }: CachedDocument,
  { request, env }: RequestContext,
): Promise<Response> => {
  const body = new TextEncoder().encode(svg)
  const etag = await strongEtag(body)
  const headers = {
    ...CORS_HEADERS,
    'Cache-Control': request.headers.has('Authorization') ? PRIVATE_NO_STORE : config(env).publicCacheControl,
    // A picture is made to be embedded, also in pages that are isolated from other origins.
    'Cross-Origin-Resource-Policy': 'cross-origin',
    ETag: etag,
    Vary: 'Authorization',
    ...(source && isStale(source) && staleHeaders(source)),
  }
  return matchesIfNoneMatch(request.headers.get('If-None-Match'), etag)
    ? new Response(null, { status: 304, headers })
    : new Response(body, {
        headers: {
          ...headers,
          'Content-Type': 'image/svg+xml',
          'Content-Security-Policy': await contentSecurityPolicy(),
        },
      })
}

/** The browser that opens a picture as a page runs and loads nothing, whatever the card says. */
const contentSecurityPolicy = async (): Promise<string> => {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(CARD_STYLE))
  const style = btoa(String.fromCharCode(...new Uint8Array(hash)))
  return `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}

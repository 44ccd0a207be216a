import { agentPath, choice, endpoint, withContent } from '../../api/contract/index.ts'
import { agentNotFound, loadCard, UPSTREAM_PROBLEMS } from '../../api/index.ts'
import type { Authentication } from '../../auth/index.ts'
import { type AgentCard, agentIdPattern } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import type { RequestContext } from '../../http/index.ts'
import { readDocument, readReceipt } from '../../registry/edge/index.ts'
import { isStale, staleHeaders } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { textResponse } from '../layout/index.ts'
import { checkedSegment, renderBadge } from './badge.tsx'
import { CARD_STYLE, renderBusinessCard } from './card-image.tsx'

export { Monogram } from './monogram.tsx'
export { firstSentence } from './text-layout.ts'

const picture = {
  tag: 'pages',
  description: 'Shows what the caller may read of the card.',
  access: 'optional',
  params: agentPath,
  responses: { 200: withContent('The picture.', { 'image/svg+xml': { text: { type: 'string' } } }) },
  validated: true,
  raw: true,
  problems: ['agent-not-found', ...UPSTREAM_PROBLEMS],
  limits: ['PAGE_LIMIT'],
} as const

/** `GET /agents/{id}/card.svg`: the business card of an agent, for READMEs. */
export const getCardImage = endpoint(
  { ...picture, summary: 'Get the business card of an agent as a picture' },
  ({ params: { id }, ...context }) =>
    respondWithPicture(id, context, card => {
      const { origin } = new URL(config(context.env).publicOrigin ?? context.request.url)
      return renderBusinessCard({ id, card, url: `${origin}/agents/${id}` })
    }),
)

/** `GET /agents/{id}/badge.svg`: the versions of A2A of an agent; with `?show=receipt`, also its newest check. */
export const getBadge = endpoint(
  {
    ...picture,
    summary: 'Get the badge with the versions of A2A that a card declares',
    query: { show: choice('Shows what the newest check of the agent has shown, too.', ['receipt']) },
    openQuery: true,
  },
  ({ params: { id }, query: { show }, ...context }) =>
    respondWithPicture(id, context, async card => {
      if (show === undefined) return renderBadge(card)
      const { env, ctx } = context
      const stored = await readReceipt(id, env, ctx)
      // Checks are about this card, even if the caller gets another. That of an internal agent is not at the edge.
      const name = 'agent-card.json'
      const checked =
        stored && ((await readDocument(id, name, env, ctx)) ?? (await getRegistry(env).document(id, name)))
      return renderBadge(card, checkedSegment(stored?.receipt, checked?.etag, Date.now()))
    }),
)

/** Responds with a picture of the card that the caller may read, whose hybrid has all that pictures show. */
const respondWithPicture = async (
  id: string,
  context: RequestContext & { caller: Authentication },
  render: (card: AgentCard) => ReturnType<typeof renderBadge> | Promise<string>,
) => {
  const { request, env, caller } = context
  const document = agentIdPattern.test(id) ? await loadCard(id, 'agent-card.json', context, { caller }) : null
  if (!document) return agentNotFound(id)
  const { source } = document
  const card: AgentCard = JSON.parse(new TextDecoder().decode(document.body))
  // A picture is made to be embedded, also in pages that are isolated from other origins.
  const headers = { 'Cross-Origin-Resource-Policy': 'cross-origin', Vary: 'Authorization' }
  return textResponse(String(await render(card)), request, {
    cacheControl: config(env).publicCacheControl,
    headers: { ...headers, ...(source && isStale(source) && staleHeaders(source)) },
    content: { 'Content-Type': 'image/svg+xml', 'Content-Security-Policy': await contentSecurityPolicy() },
  })
}

/** The browser that opens a picture as a page runs and loads nothing, whatever the card says. */
const contentSecurityPolicy = async (): Promise<string> => {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(CARD_STYLE))
  const style = btoa(String.fromCharCode(...new Uint8Array(hash)))
  return `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}

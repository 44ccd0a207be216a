import type { CallProfile } from '../card/call-profile.ts'
import { blockOrigins, originMatcher } from '../http/elsewhere.ts'
import { fetchBytes } from '../http/guarded-bytes.ts'
import { essence } from '../http/json-type.ts'
import { safeFetch } from '../http/safe-fetch.ts'
import { userAgent } from '../http/user-agent.ts'
import { toldAddress } from './told-address.ts'

/** What of a card leads people to the agent's own host, and is served here in its place. */
export type LinkName = keyof NonNullable<CallProfile['links']>

/** What is sent on of what a link leads to; or why nothing is, for the log. */
type Linked = { content: Uint8Array<ArrayBuffer>; type: string } | { failed: string }

/**
 * What each may be: nothing that a browser would run, HTML being shown without its scripts, and as of no origin. Nor data, such as
 * the card itself, or what cannot be searched though it is full of links, such as a PDF.
 */
const types: Record<LinkName, RegExp> = {
  documentation: /^text\/(?:html|plain|markdown)$/,
  icon: /^image\/(?:png|jpeg|gif|webp|avif|svg\+xml|x-icon|vnd\.microsoft\.icon)$/,
}

const isText = /^text\/|\+xml$/

/** Whose link it is, and the origin of this host by which it was asked for. */
type Whose = { id: string; profile: CallProfile; origin: string }

/** Fetches what a link of an agent's card leads to, through the fetch guard. What names the agent's host is not sent on. */
export const fetchLink = async (name: LinkName, url: string, whose: Whose, env: Env): Promise<Linked> => {
  const { PUBLIC_URL, ALLOWED_ORIGINS } = env
  const origin = PUBLIC_URL.replace(/\/+$/, '') || whose.origin
  const fetched = await fetchBytes(url, {
    headers: { 'User-Agent': userAgent(origin) },
    accepts: type => types[name].test(essence(type)),
    ask: blockOrigins(
      async (to, init) => safeFetch(to, init, ALLOWED_ORIGINS),
      originMatcher([PUBLIC_URL, whose.origin]),
    ),
  })
  if ('failed' in fetched) return { failed: `${fetched.failed}: ${fetched.detail}` }
  // No more of the type than its name: parameters are the agent's words, too.
  const type = essence(fetched.headers.get('Content-Type'))
  const content = fetched.content as Uint8Array<ArrayBuffer>
  if (!isText.test(type)) return { content, type }
  const text = textOf(content)
  if (text === undefined) return { failed: 'not UTF-8' }
  const told = toldAddress(text, whose.profile, `${origin}/agents/${whose.id}`)
  return told === undefined ? { content, type: `${type}; charset=utf-8` } : { failed: `names the agent's host ${told}` }
}

/** In another encoding than is searched, a text could be read as another. */
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return undefined
  }
}

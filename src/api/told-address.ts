import type { CallProfile } from '../card/call-profile.ts'
import { createHostMatcher, hostnameOf } from '../card/rewrite/host-leaks.ts'
import { normalizeForSearch } from '../net/hosts.ts'
import { pageText } from './page-text.ts'

/** More marks on one letter than any language has: to put these in order takes long. */
const heaped = /(\p{M}{30})\p{M}+/gu

/**
 * Which host of an agent, or what host below it, a text names that is not to be known: as it is written, or as people read it.
 * Other private hosts may be named: documentation is full of them, for examples.
 */
export const toldAddress = (
  text: string,
  { targets, links = {}, mcp }: Pick<CallProfile, 'targets' | 'links' | 'mcp'>,
  agentUrl: string,
): string | undefined => {
  const addresses = [...targets.map(({ url }) => url), ...Object.values(links), ...(mcp ? [mcp.url] : [])]
  const apart = [...new Set(addresses)].filter(each => URL.canParse(each))
  const says = createHostMatcher({ apart, interfaces: [], agentUrl, fetched: false, mayShow: [] })
  const own = new URL(agentUrl).hostname
  const hosts = apart.map(hostnameOf).filter(each => each.includes('.') && each !== own)
  for (const each of [text, pageText(text)]) {
    const bounded = each.replace(heaped, '$1')
    const said = says(bounded, false)
    if (said) return said.host
    const others = normalizeForSearch(bounded).replaceAll(own, '')
    const below = hosts.find(host => others.includes(`.${host}`))
    if (below !== undefined) return below
  }
  return undefined
}

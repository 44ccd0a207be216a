import type { CallTarget } from '../card/model/calls.ts'

/** Path and query of an HTTP+JSON call below the agent's endpoint, such as `tasks/1?historyLength=2`; v0.3's begin with `v1/`. */
export type RestPath = string

/**
 * Where a call goes: the endpoint itself, or over HTTP+JSON what is below it, and below the tenant of which the endpoint has
 * several. Undefined where that would lead out of it.
 */
export const upstreamUrl = ({ binding, version, url, tenant }: CallTarget, path: RestPath = ''): string | undefined => {
  if (binding === 'JSONRPC') return url
  const target = URL.parse(url)
  const [asked = '', query = ''] = cut(path.replace(/^\/+/, ''), '?')
  const below = tenant === undefined ? asked : `${encodeURIComponent(tenant)}/${asked}`
  if (target === null || /(?:^|[/\\])(?:\.|%2e){1,2}(?=[/\\]|$)|[#\\]/i.test(below)) return undefined
  const base = target.pathname.replace(/\/+$/, '')
  // Some cards of v0.3 name the prefix in their endpoint, others leave it to the client.
  const twice = version === '0.3' && base.endsWith('/v1') && below.startsWith('v1/')
  target.pathname = `${base}/${twice ? below.slice('v1/'.length) : below}`
  // The version goes up as a header, and in the form that upstreams understand; the tenant is not the caller's to choose.
  for (const [name, value] of new URLSearchParams(query))
    if (name.toLowerCase() !== 'a2a-version' && !(name === 'tenant' && tenant !== undefined))
      target.searchParams.append(name, value)
  return target.href
}

const cut = (text: string, at: string): string[] => {
  const index = text.indexOf(at)
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + at.length)]
}

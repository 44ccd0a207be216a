/** The longest credentials that are looked at, in characters. What is longer is none of this host's. */
const most = 8192

/** What the Authorization header of a request holds. */
type Credentials = { scheme: 'bearer'; token: string } | { scheme: 'nothing' | 'foreign' | 'several' }

/** Reads the Authorization header. Two of them arrive as one, joined by a comma; a bearer token beside anything else is refused. */
export const parseAuthorization = (headers: Headers): Credentials => {
  const header = headers.get('Authorization')?.trim() ?? ''
  if (header === '') return { scheme: 'nothing' }
  const token = /^Bearer[ \t]+(\S+)$/i.exec(header)?.[1]
  if (token !== undefined) return token.length > most ? { scheme: 'foreign' } : { scheme: 'bearer', token }
  return /(?:^|,)[ \t]*Bearer[ \t,]/i.test(header) ? { scheme: 'several' } : { scheme: 'foreign' }
}

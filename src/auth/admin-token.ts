import { HttpError } from '../http/problem.ts'

/** Whether a request bears the host's ADMIN_TOKEN. Digests are compared, so that time tells neither content nor length. */
export const bearsAdminToken = async (request: Request, env: Env): Promise<boolean> => {
  const token = /^Bearer +(\S+)\s*$/i.exec(request.headers.get('Authorization') ?? '')?.[1]
  if (token === undefined || !env.ADMIN_TOKEN) return false
  const [given, wanted] = await Promise.all([digest(token), digest(env.ADMIN_TOKEN)])
  return crypto.subtle.timingSafeEqual(given, wanted)
}

/** Lets a request with the ADMIN_TOKEN pass; every other one is told how to bring it. */
export const requireAdmin = async (request: Request, env: Env): Promise<void> => {
  if (await bearsAdminToken(request, env)) return
  const given = request.headers.has('Authorization')
  const detail = !env.ADMIN_TOKEN
    ? 'This host has no ADMIN_TOKEN yet, so nobody can write. Set it: npx wrangler secret put ADMIN_TOKEN'
    : given
      ? 'The bearer token is not one that this host knows.'
      : 'This needs a token: send `Authorization: Bearer <ADMIN_TOKEN>`.'
  throw new HttpError(401, given ? 'bad-token' : 'no-token', detail, {
    headers: { 'WWW-Authenticate': `Bearer realm="calling-card"${given ? ', error="invalid_token"' : ''}` },
  })
}

const digest = (text: string): Promise<ArrayBuffer> => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))

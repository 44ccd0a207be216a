import { SignJWT } from 'jose'
import { requireScope } from '../../auth/index.ts'
import { agentIdPattern, tokenIdPattern } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { type Handler, type HttpError, problem } from '../../http/index.ts'
import { AUDIT_HEAD_TYPE, AUDITED, type AuditHead, type AuditQuery } from '../../registry/audit/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { findSigningKeys } from '../../signing/index.ts'
import { paginate, parsePageQuery, parseTime } from '../parse-request.ts'
import { privateJson } from '../private-responses.ts'

/** `GET /audit`: a page of the audit, newest first, with the newest entry of all, signed if this host has a key. */
export const getAudit: Handler = async (request, env, ctx) => {
  await requireScope({ request, env, ctx }, 'admin', '*')
  const url = new URL(request.url)
  const { after, limit } = parsePageQuery(url, /^[1-9]\d{0,15}$/, Object.keys(FILTERS))
  const before = after === '' ? Number.MAX_SAFE_INTEGER : Number(after)
  const query = { before, limit: limit + 1, ...parseFilters(url.searchParams) }
  const { entries, head } = await getRegistry(env).audit(query)
  const { page, ...rest } = paginate(entries, limit, 'number')
  const signed = head && (await signHead(head, config(env).publicOrigin ?? url.origin, env))
  return privateJson({ entries: page, head: signed, ...rest })
}

type Filters = Omit<AuditQuery, 'before' | 'limit'>

const badFilter = (name: string, form: string): HttpError => problem('bad-filter', `${name} must be ${form}.`)

const matching =
  (pattern: RegExp, form: string) =>
  (name: string, text: string): string => {
    if (pattern.test(text)) return text
    throw badFilter(name, form)
  }

const time = (name: string, text: string): number => {
  const at = parseTime(text)
  if (Number.isNaN(at)) throw badFilter(name, 'a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z')
  return at
}

const FILTERS: { [Name in keyof Filters]-?: (name: string, text: string) => NonNullable<Filters[Name]> } = {
  agent: matching(agentIdPattern, 'the id of an agent'),
  actor: matching(
    new RegExp(`^(?:admin|host|anonymous)$|${tokenIdPattern.source}`),
    'admin, host, anonymous or the id of a token',
  ),
  what: (name, text) => {
    const what = AUDITED.find(known => known === text)
    if (what === undefined) throw badFilter(name, `one of ${AUDITED.join(', ')}`)
    return what
  },
  since: time,
  until: time,
}

const parseFilters = (query: URLSearchParams): Filters =>
  Object.fromEntries(
    Object.entries(FILTERS).flatMap(([name, parse]) => {
      const text = query.get(name)
      return text === null ? [] : [[name, parse(name, text)]]
    }),
  )

/** Adds a signature to the newest entry, a JWT with its number and hash, if this host has a key. */
const signHead = async (head: AuditHead, issuer: string, env: Env): Promise<AuditHead & { signature?: string }> => {
  const { number, time, hash } = head
  const keys = await findSigningKeys(env)
  if (!keys) return { number, time, hash }
  const signature = await new SignJWT({ iss: issuer, number, hash })
    .setIssuedAt()
    .setProtectedHeader({ alg: 'ES256', typ: AUDIT_HEAD_TYPE, kid: keys.current.kid })
    .sign(keys.current.privateKey)
  return { number, time, hash, signature }
}

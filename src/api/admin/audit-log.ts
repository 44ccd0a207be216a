import { SignJWT } from 'jose'
import { agentIdPattern, tokenIdPattern } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { AUDIT_HEAD_TYPE, AUDITED, type AuditHead } from '../../registry/audit/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { findSigningKeys } from '../../signing/index.ts'
import { choice, endpoint, json, pageQuery, paginate, text } from '../contract/index.ts'
import { AuditPage, parseTime } from '../schemas/index.ts'

const time = (description: string) => ({
  ...text(description, {
    problem: 'bad-filter',
    expected: 'a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z',
  }),
  fallback: undefined,
  parse: ([sent = '']: string[]) => {
    const at = parseTime(sent)
    return Number.isNaN(at) ? undefined : at
  },
})

/** `GET /audit`: a page of the audit, newest first, with the newest entry of all, signed if this host has a key. */
export const getAudit = endpoint(
  {
    tag: 'administration',
    summary: 'Read the audit, newest entries first',
    access: 'admin',
    query: {
      ...pageQuery(),
      agent: text('Entries about this agent.', {
        ...{ pattern: agentIdPattern, problem: 'bad-filter', expected: 'the id of an agent' },
      }),
      actor: text('`admin`, `host`, `anonymous` or the id of a token.', {
        pattern: new RegExp(`^(?:admin|host|anonymous)$|${tokenIdPattern.source}`),
        ...{ problem: 'bad-filter', expected: 'admin, host, anonymous or the id of a token' },
      }),
      what: choice('What happened.', AUDITED, { problem: 'bad-filter' }),
      since: time('A date or time. Entries from then on.'),
      until: time('A date or time. Entries before it.'),
    },
    responses: { 200: json('A page of entries, and the newest of all.', AuditPage) },
  },
  async ({ query: { limit, cursor, ...filters }, request, env }) => {
    const before = cursor === '' ? Number.MAX_SAFE_INTEGER : Number(cursor)
    const { entries, head } = await getRegistry(env).audit({ before, limit: limit + 1, ...filters })
    const { page, ...rest } = paginate(entries, limit, 'number')
    const signed = head && (await signHead(head, config(env).publicOrigin ?? new URL(request.url).origin, env))
    return { body: { entries: page, head: signed, ...rest } }
  },
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

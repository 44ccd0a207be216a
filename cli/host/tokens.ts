import * as v from 'valibot'
import { isJsonObject } from '../../src/json/json.ts'
import { HostError } from './host-error.ts'
import { type Connection, type Reply, request } from './request.ts'

const Token = v.object({
  id: v.string(),
  note: v.string(),
  scopes: v.array(v.string()),
  agents: v.array(v.string()),
  tiers: v.array(v.string()),
  created: v.string(),
  expires: v.nullable(v.string()),
})
/** A token as the host tells of it afterwards. */
export type Token = v.InferOutput<typeof Token>

const Issued = v.object({ ...Token.entries, token: v.string(), published: v.boolean() })
/** A token as the host tells of it once. */
export type Issued = v.InferOutput<typeof Issued>

const Page = v.object({ tokens: v.array(Token), cursor: v.optional(v.string()) })

/** What a token is to be good for. */
export type Wanted = { scopes: string[]; agents?: string[]; tiers?: string[]; note?: string; expires?: number | string }

/** Why the host did not do it. */
export type Declined = { declined: string }

/** Speaks to a host about its tokens. What the host declines is a verdict; that it cannot be asked is thrown. */
export const connectTokens = (connection: Connection) => ({
  /** Has a token issued. Not tried again: the one whose answer was lost would live on, and nobody would know it. */
  issue: async (wanted: Wanted): Promise<Issued | Declined> => {
    const reply = await request({ ...connection, retries: 0 }, 'POST', '/tokens', { body: wanted })
    return reply.status === 201 ? read(Issued, reply, connection) : declined(reply)
  },

  /** All tokens that were issued, by their ids. */
  list: async (): Promise<Token[] | Declined> => {
    const tokens: Token[] = []
    let cursor: string | undefined
    do {
      const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const reply = await request(connection, 'GET', `/tokens?limit=100${query}`)
      if (reply.status !== 200) return declined(reply)
      const page = read(Page, reply, connection)
      tokens.push(...page.tokens)
      cursor = page.cursor
    } while (cursor !== undefined)
    return tokens
  },

  /** Ends a token. */
  revoke: async (id: string): Promise<Declined | undefined> => {
    const reply = await request(connection, 'DELETE', `/tokens/${encodeURIComponent(id)}`)
    return reply.status === 204 ? undefined : declined(reply)
  },
})

const read = <Schema extends v.GenericSchema>(schema: Schema, { body }: Reply, { url }: Connection) => {
  const result = v.safeParse(schema, body)
  if (!result.success) throw new HostError('unreachable', `${url} answers, but it is not a Calling Card host`)
  return result.output
}

const declined = ({ status, body }: Reply): Declined => ({
  declined: isJsonObject(body) && typeof body.detail === 'string' ? body.detail : `the host answers ${status}`,
})

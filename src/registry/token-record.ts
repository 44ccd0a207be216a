import * as v from 'valibot'
import { scopes, timestamp, tokenIdPattern } from '../card/model/index.ts'
import { MAX_TOKEN_ENTRIES } from '../limits.ts'

const uniqueList = <Item extends v.GenericSchema<string>>(item: Item, minLength: 0 | 1, message: string) =>
  v.pipe(
    v.array(item, message),
    v.minLength(minLength, message),
    v.maxLength(MAX_TOKEN_ENTRIES, `must have at most ${MAX_TOKEN_ENTRIES} entries`),
    v.transform(items => [...new Set(items)]),
  )

const matching = (pattern: RegExp, message: string) => v.pipe(v.string(), v.regex(pattern, message))

const scopeNames = `${scopes.slice(0, -1).join(', ')} or ${scopes.at(-1)}`
const scopesMessage = `must be a list of ${scopeNames}, with at least one of them`
const agentMessage = 'must be an agent id, in which * matches any characters'
const agentsMessage = 'must be a list of agent ids, in which * matches any characters; omit it for all agents'
const tierMessage = 'must be the name of a tier, or * for all'

/** A token as the Registry and KV store it: never the token itself. `expires` and `created` are in ms since 1970. */
export const TokenRecord = v.object({
  id: matching(tokenIdPattern, 'must be the id of a token'),
  /** A remark for people. */
  note: matching(/^\P{Cc}{0,200}$/u, 'must be one line of at most 200 characters'),
  scopes: uniqueList(v.picklist(scopes, `must be ${scopeNames}`), 1, scopesMessage),
  /** Globs of agent ids. */
  agents: uniqueList(matching(/^[a-z0-9*][a-z0-9*-]{0,62}$/, agentMessage), 1, agentsMessage),
  tiers: uniqueList(matching(/^(?:\*|[a-z][a-z0-9-]{0,31})$/, tierMessage), 0, 'must be a list of tier names'),
  created: timestamp,
  expires: v.nullable(timestamp),
})
export type TokenRecord = v.InferOutput<typeof TokenRecord>

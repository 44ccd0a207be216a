import * as v from 'valibot'
import { keyRoles } from '../../card/model/index.ts'
import { keySecrets } from '../../variables.ts'
import { anyObject, count, cursor, described, id, integer, oneOf, seq, text, texts, time } from './parts.ts'

export const AuditEntry = v.object({
  number: count('Counts the entries from 1.'),
  time: time('When it happened.'),
  actor: text('`admin`, the id of a token, `host`, or `anonymous`.'),
  what: v.string(),
  agent: v.optional(id),
  seq: v.optional(seq),
  details: v.optional(anyObject('What else is known of it. Never a secret.')),
  previous: text('The hash of the entry before.'),
  hash: text('The SHA-256 of the entry without this member, in the canonical form of RFC 8785.'),
})

export const AuditPage = v.object({
  entries: v.array(AuditEntry),
  head: v.nullable(
    v.object({
      number: v.number(),
      time: time('When it happened.'),
      hash: v.string(),
      signature: v.optional(text('A JWT with number and hash, if this host has a signing key.')),
    }),
  ),
  cursor,
})

export const ImportResult = v.object({ agents: integer, revisions: integer, tokens: integer })

export const Health = v.object({
  service: v.literal('calling-card'),
  version: described(v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+(?:[-+][\w.+-]{1,50})?$/)), 'The version of the host.'),
  status: v.picklist(['ok', 'degraded']),
  registry: v.picklist(['reachable', 'unreachable']),
  unpublished: v.nullable(count('Keys that are not published yet.')),
  oldestStaleCard: v.nullable(time('When the oldest stale remote card was last confirmed.')),
  webhook: v.nullable(
    v.object({
      pending: v.nullable(count('Changes that wait for the webhook.')),
      failingSince: v.nullable(time('Since when its receiver fails.')),
    }),
  ),
  missing: texts('The secrets that the host needs and lacks.'),
  misconfigured: v.array(v.object({ name: text('The variable.'), message: text('What it must be.') })),
})

const kid = v.pipe(v.string(), v.regex(/^[\w-]+$/), v.description('The thumbprint of the key (RFC 7638).'))

const Jwk = v.object({
  ...{ kty: v.literal('EC'), crv: v.literal('P-256'), x: v.string(), y: v.string() },
  ...{ kid, alg: v.literal('ES256'), use: v.literal('sig') },
})

export const JwkSet = v.object({ keys: v.array(Jwk) })

export const DidDocument = v.object({
  '@context': v.array(v.string()),
  id: text('The DID.'),
  verificationMethod: v.array(
    v.object({ id: text('The DID and the `kid`.'), type: v.string(), controller: v.string(), publicKeyJwk: Jwk }),
  ),
  assertionMethod: texts('The ids of the keys whose signatures of cards count.'),
})

export const HostKeys = v.object({
  keys: v.array(
    v.object({
      kid,
      role: oneOf(keyRoles, 'Whether the key signs everything, is published before it signs, or also signs cards.'),
      secret: oneOf(keySecrets, 'The Worker secret that has the private key.'),
      signsFrom: v.optional(time('From when on it signs. Absent: from the beginning.')),
      retirable: v.optional(time('From when on the previous key can be deleted, if `unsigned` is 0 then.')),
    }),
  ),
  problem: v.optional(text('What is wrong with a secret that has no valid key.')),
  unsigned: count('Agents whose cards are still to be signed with these keys, or to be published.'),
  cacheSeconds: count('For how long some cache may serve a card after it was replaced.'),
  time: time('The time of this host.'),
})

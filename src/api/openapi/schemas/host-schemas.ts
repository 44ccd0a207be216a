import * as v from 'valibot'
import { json, keyRoles, scopes } from '../../../card/model/index.ts'
import { payloadRules } from '../../../card/signatures/index.ts'
import { keySecrets } from '../../../variables.ts'
import { anyObject, count, cursor, described, flag, id, oneOf, seq, text, texts, time, url } from './schema-parts.ts'

// The schemas of responses about the host, and of A2A calls, by their names in the document.

const token = {
  id: text('The id of the token.'),
  scopes: v.array(v.picklist(scopes)),
  agents: texts('Agent ids, in which `*` matches any characters.'),
  tiers: texts('The tiers of extended cards that the token may read.'),
  expires: v.nullable(time('When the token ends. Null for never.')),
}

export const Token = v.object({ ...token, note: text('A remark for people.'), created: time('When it was issued.') })

export const IssuedToken = v.object({
  ...Token.entries,
  token: text('The token itself. No other response has it.'),
  published: flag('Whether every location accepts it.'),
})

export const TokenList = v.object({ tokens: v.array(Token), cursor })

export const OwnToken = v.object({
  ...token,
  id: text('The id of the token; `admin` for `ADMIN_TOKEN`.'),
  note: v.optional(text('A remark for people.')),
})

export const AuditEntry = v.object({
  number: count('Counts the entries from 1.'),
  time: time('When it happened.'),
  actor: text('`admin`, the id of a token, `host`, or `anonymous`.'),
  what: text('What happened.'),
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

export const ImportResult = v.object({
  agents: count('Imported agents.'),
  revisions: count('Imported revisions.'),
  tokens: count('Imported tokens.'),
})

export const Health = v.object({
  service: v.literal('calling-card'),
  version: text('The version of the host.'),
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

const Jwk = v.object({
  ...{ kty: v.string(), crv: v.string(), x: v.string(), y: v.string() },
  ...{ kid: v.string(), alg: v.string(), use: v.string() },
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
      kid: text('The thumbprint of the key (RFC 7638).'),
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

export const VerifyResult = v.object({
  verified: flag('Whether the card has a valid signature by a trusted key.'),
  reason: v.optional(text('Why not.')),
  trust: v.object({
    basis: oneOf(['given', 'origin', 'signer'], 'Who chose the keys: the request, the origin of the card, its signer.'),
    meaning: text('What that is worth.'),
  }),
  signatures: v.array(
    v.object({
      version: v.optional(described(v.literal('1.0'), 'Set for signatures of a separate document for A2A 1.0.')),
      ...{ kid: v.optional(v.string()), alg: v.optional(v.string()) },
      ...{ typ: v.optional(v.string()), jku: v.optional(v.string()) },
      valid: v.boolean(),
      rule: v.optional(oneOf(payloadRules, 'By which rule the signed text is made from the card.')),
      omits: v.optional(text('What it does not cover.')),
      key: v.optional(v.object({ kid: v.string(), thumbprint: text('See RFC 7638.'), from: text('Its source.') })),
      reason: v.optional(text('Why it is not valid, as a clause about the signature.')),
    }),
  ),
  sdks: v.array(
    v.object({
      sdk: text('An SDK and its versions, or another verifier.'),
      accepted: flag('Whether it accepts a signature of the card.'),
      reason: v.optional(text('Why not, as a clause about the SDK.')),
    }),
  ),
  keys: v.object({
    sources: texts('Where keys were searched.'),
    errors: texts('Why keys of a source cannot be used.'),
  }),
  missing: v.optional(text('Why there is no document for A2A 1.0.')),
})

const integer = v.pipe(v.number(), v.integer())

const JsonRpcId = described(v.union([v.string(), v.number(), v.null()]), 'Repeated in the response.')

export const JsonRpcRequest = v.object({
  jsonrpc: v.literal('2.0'),
  id: JsonRpcId,
  method: text('The method, such as `SendMessage` of A2A 1.0 or `message/send` of A2A 0.3.'),
  params: v.optional(anyObject('The parameters of the method, as the version of A2A defines them.')),
})

export const JsonRpcResponse = v.object({
  jsonrpc: v.literal('2.0'),
  id: JsonRpcId,
  result: v.optional(described(json, 'The result, as the version of A2A defines it.')),
  error: v.optional(
    v.object({
      ...{ code: integer, message: v.string() },
      data: v.optional(described(json, 'The reason and details: a list of `google.rpc` details in A2A 1.0.')),
    }),
  ),
})

export const RestErrorV1 = v.object({
  error: v.object({
    code: described(integer, 'The HTTP status.'),
    status: text('The name of the `google.rpc.Code`.'),
    message: v.string(),
    details: v.optional(v.array(anyObject('A detail of `google.rpc`, such as ErrorInfo.'))),
  }),
})

export const RestErrorV0 = v.object({ code: integer, message: v.string(), data: v.optional(json) })

// The schemas of catalogs and of the API of ARD, by their names in the document.

const TrustManifest = v.object({
  identity: text('The DID of the host that signs the card: it has the domain of the identifier of the entry.'),
  identityType: v.literal('did'),
  trustSchema: v.object({ identifier: v.string(), version: v.string(), verificationMethods: v.array(v.string()) }),
  attestations: v.array(v.object({ type: v.string(), uri: url('The URL of the card.') })),
})

const aiCatalogEntry = {
  identifier: text('`urn:air:`, the publisher, and the name of the entry there.'),
  displayName: v.string(),
  type: text('The media type of the document at `url`.'),
  url: url('The address of the document.'),
  description: v.optional(v.string()),
  version: v.optional(v.string()),
  updatedAt: v.optional(time('When the registration last changed.')),
  tags: v.optional(v.array(v.string())),
  trustManifest: v.optional(TrustManifest),
}

const ardEntry = {
  ...aiCatalogEntry,
  capabilities: v.optional(texts('The ids of the skills.')),
  representativeQueries: v.optional(texts('Examples of the skills.')),
}

export const ArdEntry = v.object(ardEntry)

const catalogOf = <Entry extends v.GenericSchema>(entry: Entry) =>
  v.object({
    specVersion: v.literal('1.0'),
    host: v.object({ displayName: v.string(), identifier: v.optional(v.string()) }),
    entries: v.array(entry),
  })

export const AiCatalog = catalogOf(v.object(aiCatalogEntry))

export const ArdManifest = catalogOf(ArdEntry)

export const ArdList = v.object({
  items: v.array(ArdEntry),
  pageToken: v.optional(text('The token of the next page. The last page has none.')),
})

const Link = v.object({ href: v.string(), type: v.optional(v.string()), title: v.optional(v.string()) })

const links = v.optional(v.array(Link))

export const LinkSet = v.object({
  linkset: v.array(
    v.object({
      anchor: text('What the links are of.'),
      ...{ item: links, status: links, 'api-catalog': links, 'service-desc': links, 'service-doc': links },
    }),
  ),
})

export const ArdSearchResult = v.object({
  results: v.array(
    v.object({
      ...ardEntry,
      score: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
      source: url('The registry that has the agent.'),
    }),
  ),
  referrals: v.array(json),
  pageToken: v.optional(text('The token of the next page. The last page has none.')),
})

export const ArdError = v.object({
  errorCode: v.picklist(['NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'INVALID_ARGUMENT', 'INTERNAL_ERROR']),
  message: v.string(),
})

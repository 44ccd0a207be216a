import * as v from 'valibot'
import { json, strictObject, wholeNumber } from '../../card/model/index.ts'
import { MAX_FILTERS, MAX_PAGE_SIZE, MAX_QUERY_LENGTH, MAX_SEARCH_TEXT_LENGTH } from '../../limits.ts'
import { integer, text, texts, time, url } from './parts.ts'

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

const pageToken = v.optional(text('The token of the next page. The last page has none.'))

export const ArdList = v.object({
  items: v.array(ArdEntry),
  pageToken,
})

const links = v.optional(
  v.array(v.object({ href: v.string(), type: v.optional(v.string()), title: v.optional(v.string()) })),
)

export const LinkSet = v.object({
  linkset: v.array(
    v.object({
      anchor: text('What the links are of.'),
      ...{ item: links, status: links, 'api-catalog': links, 'service-desc': links, 'service-doc': links },
    }),
  ),
})

const textMessage = `must be a string of at most ${MAX_SEARCH_TEXT_LENGTH} characters`

const valuesMessage = `must be 1 to ${MAX_FILTERS} texts of 1 to ${MAX_QUERY_LENGTH} characters`

/** Values of one member are alternatives, and every member must match (ARD 0.91 §5.3.1). */
const filterValues = v.pipe(
  v.union([v.string(), v.array(v.string())], valuesMessage),
  v.check(value => {
    const values = [value].flat()
    const isText = (each: string) => each.trim() !== '' && each.length <= MAX_QUERY_LENGTH
    return values.length >= 1 && values.length <= MAX_FILTERS && values.every(isText)
  }, valuesMessage),
)

/** The card of an MCP server (SEP-2127), with the members that this host fills. */
export const McpServerCard = v.object({
  $schema: url('The JSON Schema of server cards.'),
  name: text('The publisher in reverse, a slash, and the id.'),
  ...{ title: v.string(), description: v.string(), version: v.string() },
  websiteUrl: url('The documentation or the page of the agent.'),
  icons: v.optional(v.array(v.object({ src: url('The icon of the card.') }))),
  remotes: v.array(
    v.object({
      type: v.literal('streamable-http'),
      url: url('The address for MCP clients.'),
      headers: v.optional(
        v.array(
          v.object({
            name: v.string(),
            placeholder: text('The value, with an ellipsis for the secret.'),
            ...{ isRequired: v.boolean(), isSecret: v.boolean() },
          }),
        ),
      ),
      supportedProtocolVersions: texts('The versions of MCP, the newest first.'),
    }),
  ),
})

/** The body of `POST /ard/search` and `POST /search`. */
export const ArdSearchRequest = strictObject({
  query: strictObject({
    '@context': v.optional(json),
    text: v.pipe(
      v.string(textMessage),
      v.maxLength(MAX_SEARCH_TEXT_LENGTH, textMessage),
      v.description('What the agent should do, in natural language.'),
    ),
    filter: v.optional(
      strictObject({
        type: v.optional(filterValues),
        tags: v.optional(filterValues),
        capabilities: v.optional(filterValues),
      }),
    ),
  }),
  federation: v.optional(v.picklist(['auto', 'referrals', 'none'], 'must be auto, referrals or none')),
  pageSize: v.optional(wholeNumber(1, MAX_PAGE_SIZE), 10),
  pageToken: v.optional(v.pipe(v.string(), v.description('The `pageToken` of the page before.'))),
})

export const ArdSearchResult = v.object({
  results: v.array(
    v.object({
      ...ardEntry,
      score: v.pipe(integer, v.minValue(0), v.maxValue(100)),
      source: url('The registry that has the agent.'),
    }),
  ),
  referrals: v.array(json),
  pageToken,
})

export const ArdError = v.object({
  errorCode: v.picklist(['NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'INVALID_ARGUMENT', 'INTERNAL_ERROR']),
  message: v.string(),
})

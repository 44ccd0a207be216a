import { Ajv } from 'ajv'
import { anyObject, array, nonEmptyArray, object, oneOf, type Schema } from './json-schema.ts'

/** A URL with a scheme and a host, as the specifications mean by `url`. */
const url = { type: 'string', pattern: '^https?://[^/?#\\s]+' }
const text = { type: 'string', minLength: 1 }
const words = array(text)
const date = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' }

/** One value or one reference (AI Catalog, "Catalog Entry"; ARD §4.3). */
const valueOrReference = {
  oneOf: [
    { required: ['url'], not: { required: ['data'] } },
    { required: ['data'], not: { required: ['url'] } },
  ],
}

const host = object({ displayName: text }, { identifier: text, documentationUrl: url, logoUrl: text })

/**
 * AI Catalog, "CDDL Schema", which is closed, and ARD 0.91, which is not: both names of the form of an identity are
 * `did`.
 */
const trustManifest = object(
  {
    identity: { type: 'string', pattern: '^did:web:[a-z0-9.-]+$' },
    attestations: nonEmptyArray(object({ type: text, uri: url }, { digest: text })),
  },
  {
    identityType: oneOf('did'),
    trustSchema: object({ identifier: text, version: text }, { governanceUri: url, verificationMethods: words }),
  },
)

/** AI Catalog, "CDDL Schema": closed. Readers of older versions require the name, too. */
const catalogEntry = {
  ...object(
    { identifier: text, displayName: text, type: text },
    {
      ...{ url, data: {}, description: text, tags: words, version: text, updatedAt: date, trustManifest },
      publisher: { type: 'object', required: ['identifier', 'displayName'] },
      extensions: anyObject,
    },
  ),
  ...valueOrReference,
}

/** AI Catalog 1.0, Level 2: discoverable. Its signature is a detached JWS in compact form. */
const aiCatalog = object(
  { specVersion: oneOf('1.0'), host, entries: array(catalogEntry) },
  { signature: { type: 'string', pattern: '^[\\w-]+\\.\\.[\\w-]+$' } },
)

/** ARD 0.91 §4.2 and Appendix C, and the schema of 0.9, which allows two to five queries only. It is open. */
const ardEntryWith = (more: Readonly<Record<string, Schema>>): Schema => ({
  ...object(
    {
      identifier: { type: 'string', pattern: '^urn:air:[a-zA-Z0-9-]+(\\.[a-zA-Z0-9-]+)+(:[a-zA-Z0-9._-]+)+$' },
      displayName: text,
      type: { type: 'string', pattern: '^application/[a-z0-9.+-]+$' },
      ...more,
    },
    {
      ...{ url, description: text, tags: words, capabilities: words, version: text, updatedAt: date, trustManifest },
      representativeQueries: { type: 'array', minItems: 2, maxItems: 5, items: text },
    },
  ),
  additionalProperties: true,
  ...valueOrReference,
})

const ardEntry = ardEntryWith({})

const ardManifest = object({ specVersion: oneOf('1.0'), entries: array(ardEntry) }, { host })

/** ARD 0.91 §5.3.5, and the interface description of 0.9. */
const ardList = object({ items: array(ardEntry) }, { pageToken: text })

/** RFC 9264 §4.2.4: targets below each relation. */
const targets = nonEmptyArray(object({ href: text }, { type: text, title: text }))

/** RFC 9264 §4.2, with the relations of RFC 9727 §5 and RFC 8631. */
const relations = {
  ...{ item: targets, 'api-catalog': targets, 'service-desc': targets, 'service-doc': targets, status: targets },
}
const linkSet = object({ linkset: nonEmptyArray(object({ anchor: text }, relations)) })

/** ARD 0.91 §5.3.2, and the interface description of 0.9: an entry with its score, and the registry that has it. */
const searchResponse = object(
  {
    results: array(ardEntryWith({ score: { type: 'integer', minimum: 0, maximum: 100 }, source: url })),
    referrals: { type: 'array', maxItems: 0 },
  },
  { pageToken: text },
)

/** ARD 0.91, Appendix B. */
const searchError = object({
  errorCode: oneOf('INVALID_ARGUMENT', 'UNAUTHENTICATED', 'NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'INTERNAL_ERROR'),
  message: text,
})

const ajv = new Ajv({ allErrors: true, strictRequired: false })
const validators = {
  'AI Catalog': ajv.compile(aiCatalog),
  'ARD manifest': ajv.compile(ardManifest),
  'ARD entry': ajv.compile(ardEntry),
  'ARD list': ajv.compile(ardList),
  'search response': ajv.compile(searchResponse),
  'search error': ajv.compile(searchError),
  'link set': ajv.compile(linkSet),
}

/** Returns what the schema of a catalog document rejects. The schemas are written from the specifications. */
export const catalogErrors = (schema: keyof typeof validators, document: unknown): string[] => {
  const validate = validators[schema]
  return validate(document)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

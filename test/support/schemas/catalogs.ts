import { Ajv } from 'ajv'

/** A URL with a scheme and a host, as the specifications mean by `url`. */
const url = { type: 'string', pattern: '^https?://[^/?#\\s]+' }
const text = { type: 'string', minLength: 1 }
const words = { type: 'array', items: text }

/** One value or one reference (AI Catalog, "Catalog Entry"; ARD §4.3). */
const valueOrReference = {
  oneOf: [
    { required: ['url'], not: { required: ['data'] } },
    { required: ['data'], not: { required: ['url'] } },
  ],
}

const date = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' }

const host = {
  type: 'object',
  required: ['displayName'],
  properties: { displayName: text, identifier: text, documentationUrl: url, logoUrl: text },
  additionalProperties: false,
}

/**
 * AI Catalog, "CDDL Schema", which is closed, and ARD 0.91, which is not: both names of the form of an identity are
 * `did`.
 */
const trustManifest = {
  type: 'object',
  required: ['identity', 'attestations'],
  properties: {
    identity: { type: 'string', pattern: '^did:web:[a-z0-9.-]+$' },
    identityType: { const: 'did' },
    trustSchema: {
      type: 'object',
      required: ['identifier', 'version'],
      properties: { identifier: text, version: text, governanceUri: url, verificationMethods: words },
      additionalProperties: false,
    },
    attestations: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['type', 'uri'],
        properties: { type: text, uri: url, digest: text },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
}

/** AI Catalog, "CDDL Schema": closed. Readers of older versions require the name, too. */
const catalogEntry = {
  type: 'object',
  required: ['identifier', 'displayName', 'type'],
  properties: {
    identifier: text,
    displayName: text,
    type: text,
    url,
    data: {},
    description: text,
    tags: words,
    version: text,
    updatedAt: date,
    publisher: { type: 'object', required: ['identifier', 'displayName'] },
    extensions: { type: 'object' },
    trustManifest,
  },
  additionalProperties: false,
  ...valueOrReference,
}

/** AI Catalog 1.0, Level 2: discoverable. */
const aiCatalog = {
  type: 'object',
  required: ['specVersion', 'host', 'entries'],
  properties: {
    specVersion: { const: '1.0' },
    host,
    entries: { type: 'array', items: catalogEntry },
    // A detached JWS in compact form.
    signature: { type: 'string', pattern: '^[\\w-]+\\.\\.[\\w-]+$' },
  },
  additionalProperties: false,
}

/** ARD 0.91 §4.2 and Appendix C, and the schema of 0.9, which allows two to five queries only. */
const ardEntry = {
  type: 'object',
  required: ['identifier', 'displayName', 'type'],
  properties: {
    identifier: { type: 'string', pattern: '^urn:air:[a-zA-Z0-9-]+(\\.[a-zA-Z0-9-]+)+(:[a-zA-Z0-9._-]+)+$' },
    displayName: text,
    type: { type: 'string', pattern: '^application/[a-z0-9.+-]+$' },
    url,
    description: text,
    tags: words,
    capabilities: words,
    representativeQueries: { type: 'array', minItems: 2, maxItems: 5, items: text },
    version: text,
    updatedAt: date,
    trustManifest,
  },
  ...valueOrReference,
}

const ardManifest = {
  type: 'object',
  required: ['specVersion', 'entries'],
  properties: { specVersion: { const: '1.0' }, host, entries: { type: 'array', items: ardEntry } },
  additionalProperties: false,
}

/** ARD 0.91 §5.3.5, and the interface description of 0.9. */
const ardList = {
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', items: ardEntry }, pageToken: text },
  additionalProperties: false,
}

/** RFC 9264 §4.2.4: targets below each relation. */
const targets = {
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    required: ['href'],
    properties: { href: text, type: text, title: text },
    additionalProperties: false,
  },
}

/** RFC 9264 §4.2, with the relations of RFC 9727 §5 and RFC 8631. */
const linkSet = {
  type: 'object',
  required: ['linkset'],
  properties: {
    linkset: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['anchor'],
        properties: {
          anchor: text,
          item: targets,
          'api-catalog': targets,
          'service-desc': targets,
          'service-doc': targets,
          status: targets,
        },
        minProperties: 1,
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
}

/** ARD 0.91 §5.3.2, and the interface description of 0.9: an entry with its score, and the registry that has it. */
const searchResponse = {
  type: 'object',
  required: ['results', 'referrals'],
  properties: {
    results: {
      type: 'array',
      items: {
        ...ardEntry,
        required: [...ardEntry.required, 'score', 'source'],
        properties: { ...ardEntry.properties, score: { type: 'integer', minimum: 0, maximum: 100 }, source: url },
      },
    },
    referrals: { type: 'array', maxItems: 0 },
    pageToken: text,
  },
  additionalProperties: false,
}

/** ARD 0.91, Appendix B. */
const searchError = {
  type: 'object',
  required: ['errorCode', 'message'],
  properties: {
    errorCode: { enum: ['INVALID_ARGUMENT', 'UNAUTHENTICATED', 'NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'INTERNAL_ERROR'] },
    message: text,
  },
  additionalProperties: false,
}

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

import { Ajv } from 'ajv'
import { array, boolean, map, nonEmptyArray, object, oneOf, string } from './json-schema.ts'

/** A URI with a scheme and a host. */
const uri = { type: 'string', pattern: '^https?://[^/?#\\s]+' }
const short = { type: 'string', minLength: 1, maxLength: 100 }

const input = {
  ...{ description: string, isRequired: boolean, isSecret: boolean, default: string, placeholder: string },
  ...{ value: string, choices: array(string), format: oneOf('string', 'number', 'boolean', 'filepath') },
}

/**
 * `schema.json` of github.com/modelcontextprotocol/experimental-ext-server-card (SEP-2127, July 2026), closed.
 */
const serverCard = object(
  {
    $schema: oneOf('https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'),
    name: { type: 'string', minLength: 3, maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
    version: { type: 'string', maxLength: 255 },
    description: short,
  },
  {
    ...{ title: short, websiteUrl: uri },
    repository: object({ url: uri, source: string }, { subfolder: string, id: string }),
    icons: array(object({ src: uri }, { mimeType: string, sizes: array(string), theme: oneOf('dark', 'light') })),
    remotes: nonEmptyArray(
      object(
        {
          type: oneOf('streamable-http', 'sse'),
          url: { type: 'string', pattern: '^(https?://[^\\s]+|\\{[a-zA-Z_][a-zA-Z0-9_]*\\}[^\\s]*)$' },
        },
        {
          headers: array(object({ name: string }, { ...input, variables: map(object({}, input)) })),
          ...{ variables: map(object({}, input)), supportedProtocolVersions: array(string) },
        },
      ),
    ),
    _meta: { type: 'object' },
  },
)

const validate = new Ajv({ allErrors: true, strictRequired: false }).compile(serverCard)

/** Returns what the schema of MCP server cards rejects in a document. */
export const serverCardErrors = (document: unknown): string[] =>
  validate(document) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)

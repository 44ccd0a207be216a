import { Ajv, type ErrorObject } from 'ajv'
import { allowUnknownMembers } from './json-schema.ts'
import { agentCardV03 } from './v0-3.ts'
import { agentCardV1 } from './v1-0.ts'

const ajv = new Ajv({ allErrors: true, strictRequired: false })

const validators = {
  '1.0': ajv.compile(allowUnknownMembers(agentCardV1)),
  '1.0 strict': ajv.compile(agentCardV1),
  '0.3': ajv.compile(allowUnknownMembers(agentCardV03)),
  '0.3 strict': ajv.compile(agentCardV03),
}
export type SchemaName = keyof typeof validators

/**
 * Returns what the schema of the Agent Card of an A2A version rejects in a document.
 * A strict schema allows no members but those of the specification.
 */
export const schemaErrors = (schema: SchemaName, document: unknown): ErrorObject[] => {
  const validate = validators[schema]
  return validate(document) ? [] : (validate.errors ?? [])
}

type Documents = Readonly<Record<'1.0' | '0.3' | 'agent-card.json' | 'agent.json', Readonly<Record<string, unknown>>>>
type Result = [representation: string, errors: ErrorObject[]]

const failures = (results: Result[]): Result[] => results.filter(([, errors]) => errors.length > 0)

/** Returns what the schemas reject in the representations that a client requests by the version of A2A. */
export const versionErrors = (documents: Documents): Result[] =>
  failures([
    ['1.0', schemaErrors('1.0 strict', documents['1.0'])],
    // The schema of 0.3 allows unknown members, and authors' own members are kept.
    ['0.3', schemaErrors('0.3', documents['0.3'])],
  ])

/** Whether a document has no address for readers of 0.3, and none of its interfaces is for them. */
const isForV1Only = (document: Readonly<Record<string, unknown>>): boolean =>
  !('url' in document) &&
  (document.supportedInterfaces as { protocolVersion: string }[]).every(each => each.protocolVersion.startsWith('1.'))

/**
 * Returns what the schemas reject in the documents of the well-known paths, which readers of 1.0 and 0.3 share, unless the agent
 * speaks 1.0 only. Not for every card: a provider without a URL and a security scheme of an unknown type stay in these documents.
 */
export const hybridErrors = (documents: Documents): Result[] =>
  failures(
    (['agent-card.json', 'agent.json'] as const).flatMap((name): Result[] => {
      if (name === 'agent-card.json' && isForV1Only(documents[name]))
        return [[`${name} as 1.0`, schemaErrors('1.0', documents[name])]]
      // The security schemes have the form of 0.3.
      const { securitySchemes: _, ...withoutSchemes } = documents[name]
      return [
        [`${name} as 1.0`, schemaErrors('1.0', withoutSchemes)],
        [`${name} as 0.3`, schemaErrors('0.3', documents[name])],
      ]
    }),
  )

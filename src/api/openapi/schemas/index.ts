import { agentSchemas } from './agents.ts'
import { catalogSchemas } from './catalogs.ts'
import { hostSchemas } from './host.ts'
import { FieldError, Problem } from './parts.ts'

/** Every schema of a response, and of a body that no handler parses with a schema of its own. Those of cards are not made from valibot. */
export const schemas = { FieldError, Problem, ...agentSchemas, ...catalogSchemas, ...hostSchemas }

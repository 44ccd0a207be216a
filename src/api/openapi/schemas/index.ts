import * as agentSchemas from './agent-schemas.ts'
import * as hostSchemas from './host-schemas.ts'
import { FieldError, Problem } from './schema-parts.ts'

/** Every schema of a response, and of a body that no handler parses with its own. Those of cards are made apart. */
export const schemas = { FieldError, Problem, ...agentSchemas, ...hostSchemas }

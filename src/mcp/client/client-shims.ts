/**
 * Replaces the module of this name in `@modelcontextprotocol/client` (build.ts). Its own one for Workers brings a copy of a JSON
 * Schema validator, for the results of tools that the client has listed. This host lists tools with requests of its own
 * (`Session.listPage`), so the client knows of no schema to validate with.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('This host does not validate results of tools.')
  }
}

/** A Worker is no browser, in which a failed request may be one that CORS forbids. */
export const CORS_IS_POSSIBLE = false

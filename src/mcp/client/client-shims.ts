/**
 * Replaces the module of this name in `@modelcontextprotocol/client` (tools/build.ts), which brings a validator of JSON
 * Schema for the results of tools. This host lists tools with `Session.listPage`, so the client knows no schemas.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('This host does not validate results of tools.')
  }
}

/** A Worker is no browser, in which a failed request may be one that CORS forbids. */
export const CORS_IS_POSSIBLE = false

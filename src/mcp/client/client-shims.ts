/**
 * Replaces the module `_shims` of both packages of MCP (tools/build.ts), which brings a validator of JSON Schema: the
 * client knows no schemas, as this host lists tools with `Session.listPage`, and its servers elicit nothing themselves.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('This host validates nothing of MCP against a JSON Schema.')
  }
}

/** A Worker is no browser, in which a failed request may be one that CORS forbids. */
export const CORS_IS_POSSIBLE = false

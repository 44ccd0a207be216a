/** By what an upstream is asked whether its card has changed (RFC 9110 §13.1). */
export type Validators = { etag?: string; lastModified?: string }

/** A place in a JSON document (RFC 6901); '' is the whole of it. */
export type Pointer = string

/** Builds a JSON Pointer from its reference tokens, escaping `~` and `/`. */
export const formatPointer = (...tokens: readonly (string | number)[]): Pointer =>
  tokens.reduce<Pointer>((place, token) => `${place}/${escaped(String(token))}`, '')

/** Few tokens need it, and there are many. */
const escaped = (token: string): string =>
  /[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token

/** The reference tokens of a JSON Pointer, unescaped. */
export const parsePointer = (place: Pointer): string[] =>
  place
    .split('/')
    .slice(1)
    .map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))

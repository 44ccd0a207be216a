/**
 * The limits that owners and callers can meet, in one place: docs/reference.md lists them. Strings count UTF-16 units, as
 * `length` does.
 */

/** The body of a request to the registry or to `POST /lint`. */
export const MAX_BODY_BYTES = 256 * 1024

/** Levels of objects and arrays in a JSON document. */
export const MAX_JSON_DEPTH = 64

/** One string of a card or manifest, names of members included. */
export const MAX_STRING_LENGTH = 16 * 1024

/** Members of one object, or items of one array. */
export const MAX_MEMBERS = 1000

/** Skills of one card. */
export const MAX_SKILLS = 500

/** Interfaces in one list of a card. */
export const MAX_INTERFACES = 100

/** Host names in `hosts`, or in `upstream.mayShow`. */
export const MAX_HOSTS = 20

/** Entries in `tiers`, or in `jwt.tiers`. */
export const MAX_TIERS = 16

/** Audiences in `jwt.audience`. */
export const MAX_AUDIENCES = 16

/** `upstream.ttl`: how long a fetched card is fresh. */
export const MIN_TTL_SECONDS = 30
export const MAX_TTL_SECONDS = 86_400

/** `upstream.staleIfError`: how long a fetched card is served after that, while its upstream fails. */
export const MAX_STALE_IF_ERROR_SECONDS = 30 * 86_400

/** Entries on one page of a list, and the default of `limit`. */
export const MAX_PAGE_SIZE = 100

/** Characters of ADMIN_TOKEN: long enough that a random one cannot be guessed, even without a rate limit. */
export const MIN_ADMIN_TOKEN_LENGTH = 16

/** `expires` of a token, from now. KV stores nothing for less than a minute. */
export const MIN_TOKEN_SECONDS = 60
export const MAX_TOKEN_SECONDS = 3650 * 86_400

/** Entries in `scopes`, `agents` and `tiers` of a token. */
export const MAX_TOKEN_ENTRIES = 20

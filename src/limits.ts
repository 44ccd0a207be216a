/**
 * The limits that owners and callers can meet, in one place. `npm run docs` writes docs/reference/limits.md from the
 * headings and the comments. Strings count UTF-16 units, as `length` does.
 */

// Cards and manifests

/** One string of a card or manifest, names of members included. */
export const MAX_STRING_LENGTH = 16 * 1024
/** Members of one object, or items of one array. */
export const MAX_MEMBERS = 1000
/** The JSON Pointer of a place in a card or manifest, of which a report has many. */
export const MAX_CARD_POINTER_LENGTH = 1024
/** The name by which a request finds an agent, and the part of a name that an id is made from. */
export const MAX_NAME_LENGTH = 200
/** Skills of one card. */
export const MAX_SKILLS = 500
/** Different input modes of one card and its skills together; likewise for output modes. */
export const MAX_MODES = 200
/** Schemes of one requirement, if one of them has several OAuth flows. */
export const MAX_SPLIT_SCHEMES = 10
/** Interfaces in one list of a card. */
export const MAX_INTERFACES = 100
/** Pointers in `allowSecrets`. */
export const MAX_ALLOWED_SECRETS = 20
/** Host names in `hosts`, or in `upstream.mayShow`. */
export const MAX_HOSTS = 20
/** Entries in `tiers`, or in `jwt.tiers`. */
export const MAX_TIERS = 16
/** JSON text of the extended cards of one agent, each with the public card in it. All are in memory at once. */
export const MAX_EXTENDED_CARDS_LENGTH = 1024 * 1024
/** Audiences in `jwt.audience`. */
export const MAX_AUDIENCES = 16

// The registry

/**
 * The body of a request to the registry, `POST /lint` or `POST /verify`, a card that `POST /verify` fetches, and a line
 * of a batch.
 */
export const MAX_BODY_BYTES = 256 * 1024
/** Levels of objects and arrays in a JSON document, a call or the response of an agent. */
export const MAX_JSON_DEPTH = 64
/** Entries on one page of a list, and the default of `limit`. */
export const MAX_PAGE_SIZE = 100
/** The newest revisions of one agent, its removal included. */
export const MAX_REVISIONS = 200
/** Lines of a batch. */
export const MAX_BATCH_LINES = 500
/** Lines of a batch that count as one write against `WRITE_LIMIT`. */
export const LINES_PER_WRITE = 25
/** The body of a batch. */
export const MAX_BATCH_BYTES = 4 * 1024 * 1024
/** The documents that are made from a batch with `atomic=true` and written at once. */
export const MAX_ATOMIC_BATCH_BYTES = 16 * 1024 * 1024
/** Characters of the descriptions and examples of an agent's skills that a search reads. */
export const MAX_INDEXED_LENGTH = 64 * 1024
/** Examples of an agent's skills that are stored for catalogs. */
export const MAX_LISTED_EXAMPLES = 5
/** Different values of each field that a search reads: ids, names and tags of skills, capabilities, modes. */
export const MAX_FIELD_VALUES = 500
/** Characters of `q` and of the value of a filter. */
export const MAX_QUERY_LENGTH = 200
/** Words of `q` and `name` together. */
export const MAX_QUERY_WORDS = 16
/** Words at the end of a search that also match the beginnings of longer words. */
export const MAX_WORD_BEGINNINGS = 4
/** Filters of one search. */
export const MAX_FILTERS = 16
/** The best agents of a search, all pages together. */
export const MAX_SEARCH_HITS = 500
/** Agents that a search scores for each form of its words, that its facets count, and that a page examines. */
export const MAX_SEARCH_CANDIDATES = 2000
/** The most frequent values that a facet shows. */
export const MAX_FACET_VALUES = 20
/** Characters of `query.text` in `POST /search`. */
export const MAX_SEARCH_TEXT_LENGTH = 1000
/** Agents in one catalog document, and the default of its `limit`. */
export const MAX_CATALOG_ENTRIES = 500
/** Agents in one sitemap; above that, the host serves an index of sitemaps. The protocol allows 50,000. */
export const MAX_SITEMAP_URLS = 5000
/** Characters of `ADMIN_TOKEN`: long enough that a random one cannot be guessed, even without a rate limit. */
export const MIN_ADMIN_TOKEN_LENGTH = 16
/** The shortest lifetime of a new token. KV stores nothing for less than a minute. */
export const MIN_TOKEN_SECONDS = 60
/** The longest lifetime of a new token. */
export const MAX_TOKEN_SECONDS = 3650 * 86_400
/** Entries in `scopes`, `agents` or `tiers` of a token. */
export const MAX_TOKEN_ENTRIES = 20
/** Tokens of one host; expired ones are deleted to make room. */
export const MAX_TOKENS = 10_000
/**
 * Refused writes of one actor that the audit records in an hour; further ones are only counted. All callers without a
 * valid token are one actor.
 */
export const MAX_RECORDED_REFUSALS = 30
/** The file that `POST /import` accepts, after decompression. */
export const MAX_IMPORT_BYTES = 2 * 1024 * 1024 * 1024
/** Bytes of that file for each compressed byte, beyond `FREE_IMPORT_BYTES`. */
export const MAX_IMPORT_RATIO = 250
/** Bytes of that file for which the ratio does not count. */
export const FREE_IMPORT_BYTES = 1024 * 1024
/** One line of that file. */
export const MAX_IMPORT_LINE_BYTES = 8 * 1024 * 1024
/** How long the registry stores what the calls of an agent have shown. */
export const OBSERVATION_SECONDS = 30 * 86_400
/** Media types that the registry counts for one agent; others count as `other`. */
export const MAX_OBSERVED_MEDIA_TYPES = 50
/** The newest changes, which are stored for event streams that resume, and for the webhook. */
export const MAX_STORED_CHANGES = 10_000
/** Event streams of one host. */
export const MAX_EVENT_STREAMS = 10_000
/** Event streams of one token, or of one client address without a token. */
export const MAX_CALLER_EVENT_STREAMS = 20
/**
 * Event streams that one token, or one client address without a token, resumes in `REPLAY_PERIOD_SECONDS` with a
 * `Last-Event-ID` behind the newest change.
 */
export const MAX_CALLER_REPLAYS = 30
/** The period in which `MAX_CALLER_REPLAYS` counts. */
export const REPLAY_PERIOD_SECONDS = 60
/** How long an event stream lasts; then its client resumes with a new one. */
export const EVENT_STREAM_SECONDS = 15 * 60
/** How long an event stream waits for a client that reads nothing. */
export const MAX_UNREAD_SECONDS = 60
/** Waiting for the response of the webhook's receiver. */
export const WEBHOOK_TIMEOUT_SECONDS = 15
/** How long a change is retried after the first failed attempt. */
export const WEBHOOK_RETRY_SECONDS = 3 * 86_400

// Calls and responses

/** The body of a call. */
export const MAX_CALL_BYTES = 4 * 1024 * 1024
/** The body of a call past the rate limit that is read to repeat the id of the call in the error. */
export const MAX_REFUSED_CALL_BYTES = 16 * 1024
/** An agent's response that is not a stream. */
export const MAX_RESPONSE_BYTES = 4 * 1024 * 1024
/** One event of an agent's stream, unless `gate.responses` is `off`. */
export const MAX_EVENT_BYTES = 1024 * 1024
/** The path and query of a call that is [translated](docs/design/calls.md#bridges) to HTTP+JSON. */
export const MAX_TRANSLATED_PATH_LENGTH = 16 * 1024
/** A JSON-RPC method. */
export const MAX_METHOD_LENGTH = 256
/** Characters of one number in a call. */
export const MAX_NUMBER_LENGTH = 1000
/** Numbers in a call that JavaScript would write differently, such as `1.0`. They are forwarded unchanged. */
export const MAX_RAW_NUMBERS = 100_000
/** Parts of a message, if the agent restricts its input modes. */
export const MAX_PARTS = 1000
/** Media types in `acceptedOutputModes`. */
export const MAX_OUTPUT_MODES = 100
/** Extensions in one `A2A-Extensions` header; further ones are ignored. */
export const MAX_EXTENSIONS = 200
/** The id of a task with [`gate.tasks: owner`](docs/design/calls.md#whose-tasks-a-call-reaches). */
export const MAX_TASK_ID_LENGTH = 256
/** The `contextId` that a caller chooses with `gate.tasks: owner`, or for an agent that is an MCP server. */
export const MAX_CONTEXT_ID_LENGTH = 256
/** Tasks, and contexts, that one call names with `gate.tasks: owner`. */
export const MAX_NAMED_TASKS = 100
/** The `nextPageToken` of an agent with `gate.tasks: owner`; a response with a longer one is `invalid-response`. */
export const MAX_PAGE_TOKEN_LENGTH = 4096
/**
 * Tasks and contexts of one agent with stored owners; beyond that, the caller with the most loses the one that was not
 * used for the longest time.
 */
export const MAX_OWNED_IDS = 100_000
/** How long the owner of a task or context is stored after its last use. */
export const OWNED_ID_LIFETIME_SECONDS = 30 * 86_400
/** How long nobody can own a cleared id of a task or context: twice as long as an isolate remembers an owner. */
export const CLEARED_ID_SECONDS = 120
/** Hops in `Via`; a call that already has this many is refused. */
export const MAX_HOPS = 10
/**
 * Lifetime of the signed [identity of a caller](docs/guide/owners.md#who-calls-caller-identity). Calls share one for
 * half of that time.
 */
export const ASSERTION_SECONDS = 60
/** Silence of a stream after which its client gets a comment, which shows whether it is still connected. */
export const HEARTBEAT_SECONDS = 15
/** One request of a [check](docs/guide/owners.md#check-your-agent). */
export const CHECK_TIMEOUT_SECONDS = 5
/** All requests of a check except messages; after that time, no more are sent. */
export const CHECK_SECONDS = 20
/** The message, and the stream, of a check with `send`. */
export const CHECK_SEND_SECONDS = 30
/** One response that a check reads. */
export const MAX_CHECK_RESPONSE_BYTES = 256 * 1024
/** Events of a stream that a check reads. */
export const MAX_CHECK_EVENTS = 100
/** Requests of a check without a response, through the gate and directly; after that, no more are sent. */
export const MAX_UNANSWERED_REQUESTS = 2

// Remote cards

/** A fetched card, after decompression. */
export const MAX_CARD_BYTES = 1024 * 1024
/** The extended card that an agent returns to a caller: it is compiled again for each call. */
export const MAX_AGENT_EXTENDED_CARD_BYTES = 256 * 1024
/** How long the host remembers the media types of an extended card that an agent returns, or that it returns none. */
export const EXTENDED_MODES_SECONDS = 60
/** Fetching a card, redirects included. */
export const CARD_TIMEOUT_SECONDS = 10
/** Redirects that are followed while a card is fetched. */
export const MAX_REDIRECTS = 3
/** The discovery document of an OpenID Connect issuer; likewise its keys. */
export const MAX_ISSUER_BYTES = 128 * 1024
/** Fetching one of those. */
export const ISSUER_TIMEOUT_SECONDS = 4
/** Keys of an OpenID Connect issuer; further ones are ignored. */
export const MAX_ISSUER_KEYS = 100
/** Keys that are tried for a JWT without a `kid`, or with a `kid` of several keys. */
export const MAX_KEYS_TRIED = 10
/** The smallest `upstream.ttl`: how long a fetched card is fresh. */
export const MIN_TTL_SECONDS = 30
/** The largest `upstream.ttl`. */
export const MAX_TTL_SECONDS = 86_400
/** The largest `upstream.staleIfError`: how long a fetched card is served after its `ttl`, while its upstream fails. */
export const MAX_STALE_IF_ERROR_SECONDS = 30 * 86_400
/** Keys, URLs of key sets and DIDs in `upstream.keys`. */
export const MAX_UPSTREAM_KEYS = 20
/** One response of an MCP server for its card. */
export const MAX_DISCOVERY_RESPONSE_BYTES = 1024 * 1024
/** All responses of an MCP server for its card. */
export const MAX_DISCOVERY_BYTES = 8 * 1024 * 1024
/** All requests to an MCP server for its card. */
export const DISCOVERY_TIMEOUT_SECONDS = 20
/** JSON text of the tools, resources and prompts in the card of one MCP server. */
export const MAX_MCP_LISTS_LENGTH = 1024 * 1024

// Signatures

/** The first signatures of a card, which are verified. */
export const MAX_SIGNATURES = 20
/** Keys in a JWK Set or DID document by which a card is verified; a larger set is not read. */
export const MAX_VERIFICATION_KEYS = 100
/** The modulus of an RSA key by which a card is verified. Larger keys are not used: a check would take seconds. */
export const MAX_RSA_MODULUS_BITS = 4096
/** The exponent of such a key. */
export const MAX_RSA_EXPONENT_BITS = 32
/** A key set or DID document. */
export const MAX_KEY_SET_BYTES = 128 * 1024
/** Fetching a key set or DID document. */
export const KEY_SET_TIMEOUT_SECONDS = 5
/** How long caches may keep the key set and the DID document of this host, as `Cache-Control` states. */
export const KEY_SET_MAX_AGE_SECONDS = 5 * 60
/** How long a new key is published before it signs: longer than caches keep the key set and a deployment takes. */
export const KEY_LEAD_SECONDS = 10 * 60
/** `keys` of `POST /verify`. */
export const MAX_KEY_SOURCES = 5
/** Requests that this host sends for one call of `POST /verify`, redirects included. */
export const MAX_VERIFY_REQUESTS = 4
/** Key sets that are fetched because the signatures of a card point to them, or because they are on its origin. */
export const MAX_SIGNER_KEY_SETS = 3

// MCP and pages

/** Characters of the description of a tool. */
export const MAX_TOOL_DESCRIPTION_LENGTH = 8000
/** Files in one call of a tool. */
export const MAX_TOOL_FILES = 50
/** The longest wait for a task, even if `UPSTREAM_TIMEOUT` is longer: most MCP clients give up after a minute. */
export const MAX_TOOL_WAIT_SECONDS = 50
/** How long the handle of a task can be used. */
export const HANDLE_SECONDS = 86_400
/** JSON text of an elicitation; a larger one is canceled. */
export const MAX_ELICITATION_LENGTH = 64 * 1024
/** An MCP server's response to the call of a tool. */
export const MAX_TOOL_RESULT_BYTES = 1024 * 1024
/** The call of a tool, however much progress it reports. */
export const MAX_TOOL_SECONDS = 15 * 60
/** Tools of one agent that run at once, including those that wait for an answer from their caller. */
export const MAX_RUNNING_TOOLS = 16
/** How long a tool waits for an answer from its caller. */
export const TOOL_INPUT_SECONDS = 10 * 60
/** Elicitations of a tool in one call; further ones are canceled. Each is stored. */
export const MAX_TOOL_ELICITATIONS = 50
/** Sessions of one agent with its MCP server: more than the tools that can run at once. */
export const MAX_MCP_SESSIONS = 32
/** How long such a session stays open without use. */
export const MCP_SESSION_IDLE_SECONDS = 5 * 60
/** Resources that such a session remembers because results of its tools link to them. */
export const MAX_LINKED_RESOURCES = 1000
/** Characters of the URI of such a resource; a longer one cannot be read. */
export const MAX_RESOURCE_URI_LENGTH = 2048
/** Event streams of one agent that is an MCP server. */
export const MAX_OPEN_STREAMS = 32
/** Unread events of one such stream; beyond that, it ends. */
export const MAX_UNREAD_BYTES = 2 * 1024 * 1024
/** Finished tasks that are stored for one agent that is an MCP server. */
export const MAX_TASKS = 200
/** The total size of those tasks. */
export const MAX_TASK_BYTES = 64 * 1024 * 1024
/** How long those tasks are stored. */
export const TASK_LIFETIME_SECONDS = 24 * 60 * 60
/** JSON text of the call in the code on the page of an agent. With a longer one, the code only requests the card. */
export const MAX_EXAMPLE_CALL_LENGTH = 10_000

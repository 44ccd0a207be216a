/** A mutant that does the same as the original, so that no test can notice it. */
type Equivalent = {
  path: string
  original: string
  replacement: string
  /** What the line of the mutant contains, where the file has the original twice. */
  line?: string
  reason: string
}

const CACHE = 'how much is remembered, never what is answered'
const NEVER_ABSENT = 'the left side is never undefined; the right side satisfies the type checker'

export const equivalentMutants: readonly Equivalent[] = [
  {
    path: 'src/a2a/sent-message.ts',
    original: '/^(\\S*) (.*)$/.exec(fault) ?? []',
    replacement: '/^(\\S*) (.*)$/.exec(fault)',
    reason: NEVER_ABSENT,
  },
  {
    path: 'src/api/admin/export-import.ts',
    original: '0',
    replacement: '-1',
    line: 'let count = 1',
    reason: 'a search from before the start begins at the start',
  },
  {
    path: 'src/auth/require.ts',
    original: '500',
    replacement: '501',
    reason: 'no HttpError has the status 500: it is the response to any other error',
  },
  { path: 'src/auth/throttle.ts', original: '1', replacement: '2', line: 'size: 1', reason: CACHE },
  { path: 'src/auth/throttle.ts', original: '1', replacement: '0', line: 'size: 1', reason: CACHE },
  { path: 'src/auth/throttle.ts', original: 'size: 1', replacement: '', reason: CACHE },
  { path: 'src/auth/oidc-issuers.ts', original: '2', replacement: '1', line: 'MAX_CACHE_BYTES', reason: CACHE },
  {
    path: 'src/auth/bearer-token.ts',
    original: "''",
    replacement: "'mutant'",
    line: 'adminToken =',
    reason: 'a host without an ADMIN_TOKEN finds it in no text, however long',
  },
  {
    path: 'src/card/signatures/payloads.ts',
    original: 'a[index]?.codePointAt(0) ?? 0',
    replacement: 'a[index]?.codePointAt(0)',
    reason: NEVER_ABSENT,
  },
  {
    path: 'src/registry/events/change-feed.ts',
    original: '0',
    replacement: '-1',
    line: 'publicKind ? 1 : 0',
    reason: 'the column is only compared with 1',
  },
  {
    path: 'src/json/media-type.ts',
    original: '1',
    replacement: '2',
    line: 'Math.max(-1',
    reason: 'the lowest specificity is only compared with itself and with those of ranges, which are at least 0',
  },
  {
    path: 'src/gateway/handle-call.ts',
    original: 'resolving instanceof Promise',
    replacement: 'true',
    reason: 'awaiting a value that is no promise takes longer, and has the same result',
  },
  {
    path: 'src/gateway/gate/gate.ts',
    original: 'this.#endpoints.set(target, endpoint)',
    replacement: '',
    reason: CACHE,
  },
  {
    path: 'src/http/headers.ts',
    original: "endToEndHeader('traceparent', headers) ?? ''",
    replacement: "endToEndHeader('traceparent', headers)",
    reason: 'neither an empty text nor "undefined" has the form of the header',
  },
  {
    path: 'src/http/headers.ts',
    original: 'traceId === undefined || parentSpanId === undefined',
    replacement: 'traceId === undefined && parentSpanId === undefined',
    reason: 'a header has both or neither',
  },
  {
    path: 'src/card/model/modes.ts',
    original: 'indexes.set(modes, index)',
    replacement: '',
    reason: CACHE,
  },
  {
    path: 'src/gateway/index.ts',
    original: "''",
    replacement: "'mutant'",
    line: 'Parameters<Handler>',
    reason: 'the check of an agent always names it',
  },
  {
    path: 'src/mcp/agent/tool-client.ts',
    original: '1',
    replacement: '2',
    line: '?? 0) + 1',
    reason: 'the sizes are only compared with one another',
  },
  {
    path: 'src/mcp/agent/quotas.ts',
    original: 'used > 0',
    replacement: 'used >= 0',
    reason: 'an entry of 0 counts as none',
  },
  {
    path: 'src/mcp/agent/quotas.ts',
    original: '0',
    replacement: '-1',
    line: '#unread = 0',
    reason: 'neither is more than what is unread after the first event',
  },
  {
    path: 'src/mcp/client/client-shims.ts',
    original: "'This host does not validate results of tools.'",
    replacement: "''",
    reason: 'the client knows no schemas, so it asks for no validator',
  },
  { path: 'src/gateway/tasks/owned-call.ts', original: '4', replacement: '3', line: 'CACHE_BYTES', reason: CACHE },
  { path: 'src/registry/edge/write-through.ts', original: '2', replacement: '3', line: 'CACHE_BYTES', reason: CACHE },
  {
    path: 'src/registry/edge/clock-cache.ts',
    original: 'wasRead: false',
    replacement: '',
    reason: 'undefined is not true either',
  },
  {
    path: 'src/gateway/tasks/owned-call.ts',
    original: '1024',
    replacement: '1023',
    line: 'CACHE_BYTES',
    reason: CACHE,
  },
  {
    path: 'src/gateway/tasks/owned-call.ts',
    original: '0',
    replacement: '-1',
    line: 'size > 0',
    reason: 'zero has returned before',
  },
  {
    path: 'src/registry/store/store.ts',
    original: 'coming.length > 0',
    replacement: 'coming.length >= 0',
    reason: 'the minimum of no times is Infinity, for which no alarm is set',
  },
  {
    path: 'src/json/media-type.ts',
    original: '0',
    replacement: '-1',
    line: "split('/', 1)[0] ?? ''",
    reason: 'all ranges are compared then, with the same result',
  },
  {
    path: 'src/gateway/receive/index.ts',
    original: "''",
    replacement: "'mutant'",
    line: '#rpc: JsonRpcRequest',
    reason: 'both are methods of 0.3, the version in which a call without a readable body is refused',
  },
  {
    path: 'src/json/duplicate-names.ts',
    original: "value !== null && typeof value === 'object'",
    replacement: "value !== null || typeof value === 'object'",
    reason: 'only objects, lists and null get there, apart from a text as the whole document, which has no names',
  },
  {
    path: 'cli/sync/sync-run.ts',
    original: 'id ?? []',
    replacement: 'id',
    reason: 'the ids are used only where all files have one',
  },
  {
    path: 'cli/sync/result.ts',
    original: "'✗'",
    replacement: "''",
    line: "'not pushed'",
    reason: 'results of this action are not printed as lines',
  },
  {
    path: 'cli/commands/cards/init.ts',
    original: "id: 'agent'",
    replacement: '',
    reason: 'the id only occurs in addresses that are not printed',
  },
]

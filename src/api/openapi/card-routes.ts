import { dialectNames } from '../../card/model/index.ts'
import { MAX_CATALOG_ENTRIES, MAX_FILTERS, MAX_PAGE_SIZE, MAX_QUERY_LENGTH, MAX_QUERY_WORDS } from '../../limits.ts'
import {
  answer,
  type Content,
  group,
  jsonBody,
  type Operation,
  type Operations,
  page,
  pageProblems,
  pageQuery,
  tokenProblems,
  upstreamProblems,
} from './operation.ts'

const card = group({
  tag: 'cards',
  access: 'optional',
  query: {
    dialect: {
      description: 'The dialect of the card. It wins over the version.',
      schema: { enum: ['hybrid', ...dialectNames] },
    },
    'A2A-Version': 'The same as the header.',
  },
  headers: {
    'A2A-Version': 'The version of A2A that the card should have the form of: 1.0 or 0.3.',
    Prefer: '`server-timing` adds `Server-Timing` to the response (RFC 7240).',
  },
  validated: true,
})

const servedCard = (content: Content): Operation['answers'] => ({
  200: answer('The card.', content, 'Last-Modified', 'A2A-Version'),
})

const agentCard = (id: string, summary: string, own: Partial<Operation> = {}): Operation =>
  card(id, summary, {
    description:
      'An internal agent needs a token with the scope `read`; without one, the response is that for an unknown agent.',
    answers: servedCard(jsonBody('AgentCard')),
    problems: ['agent-not-found', 'unknown-dialect', ...upstreamProblems],
    ...own,
  })

const hostCard = (id: string, summary: string): Operation =>
  card(id, summary, {
    answers: servedCard(jsonBody('AgentCard')),
    problems: ['no-root-agent', 'unknown-dialect', ...upstreamProblems],
  })

const picture = group({
  tag: 'pages',
  description: 'Shows what the caller may read of the card.',
  access: 'optional',
  answers: { 200: answer('The picture.', { 'image/svg+xml': { type: 'string' } }) },
  validated: true,
  problems: ['agent-not-found', ...upstreamProblems],
  limits: ['PAGE_LIMIT'],
})

const publicDocument = group({ tag: 'documents', access: 'public', validated: true })

const catalogs = group({ tag: 'catalogs', access: 'public', validated: true, limits: ['CALL_LIMIT'] })

const catalog = (id: string, summary: string, content: Content): Operation =>
  catalogs(id, summary, {
    query: pageQuery(MAX_CATALOG_ENTRIES),
    answers: { 200: answer('The public agents of the host name.', content, 'Link') },
    problems: pageProblems,
  })

const ardSearch = group({
  tag: 'catalogs',
  access: 'public',
  body: { content: jsonBody('ArdSearchRequest') },
  answers: { 200: answer('The best agents first.', 'ArdSearchResult') },
  problems: ['bad-query', 'bad-cursor'],
  limits: ['CALL_LIMIT'],
  errors: 'ard',
})

const filter = (description: string) => ({
  description,
  schema: {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: MAX_QUERY_LENGTH },
    maxItems: MAX_FILTERS,
  },
})

const words = (description: string) => ({
  description: `${description} At most ${MAX_QUERY_WORDS} words, with those of the other.`,
  schema: { type: 'string', minLength: 1, maxLength: MAX_QUERY_LENGTH },
})

/** The routes of cards, lists and catalogs. */
export const cardRoutes = {
  'GET /.well-known/agent-card.json': hostCard('getHostCard', 'Get the card of the agent of this host name'),
  'GET /.well-known/agent.json': hostCard('getHostAgentJson', 'Get the same card at the path of older clients'),
  'GET /agents/:id/.well-known/agent-card.json': agentCard('getWellKnownAgentCard', 'Get the card of an agent'),
  'GET /agents/:id/.well-known/agent.json': agentCard('getAgentJson', 'Get the same card at the path of older clients'),
  'GET /agents/:id': agentCard('getAgentCard', 'Get the card of an agent, or its page', {
    answers: servedCard({ ...jsonBody('AgentCard'), ...page }),
    limits: ['PAGE_LIMIT'],
  }),
  'GET /agents/:id/card.svg': picture('getCardImage', 'Get the business card of an agent as a picture'),
  'GET /agents/:id/badge.svg': picture('getBadge', 'Get the badge with the versions of A2A that a card declares', {
    query: {
      show: { description: 'Shows what the newest check of the agent has shown, too.', schema: { const: 'receipt' } },
    },
  }),
  'GET /': publicDocument('getCatalogPage', 'Get the page on which people find agents', {
    tag: 'pages',
    description: 'For browsers only. Its query is that of `GET /agents`.',
    answers: { 200: answer('The page.', page) },
    problems: ['not-found'],
    limits: ['PAGE_LIMIT'],
  }),
  'GET /agents/.well-known/:file': group({ tag: 'cards', access: 'public', problems: ['agent-not-found'] })(
    'getCardWithoutAgent',
    'Learn that the base URL has lost the id of the agent',
  ),
  'GET /.well-known/jwks.json': publicDocument('getKeySet', 'Get the public keys with which this host signs', {
    answers: { 200: answer('A JWK Set (RFC 7517).', { 'application/jwk-set+json': 'JwkSet' }) },
    problems: ['no-signing-key'],
  }),
  'GET /.well-known/did.json': publicDocument('getDidDocument', 'Get these keys as the DID document of the host name', {
    description: 'Only for the host name of `PUBLIC_URL` and those that agents claim.',
    answers: { 200: answer('The document of a DID of the method `web`.', { 'application/did+json': 'DidDocument' }) },
    problems: ['no-signing-key', 'unknown-host'],
  }),
  'GET /agents': group({ tag: 'cards', access: 'optional' })('listAgents', 'List or search the agents', {
    description:
      'Without a token, the public agents; with one, also the internal agents that it may read. ' +
      'All parameters of a search must match. With `q` or `name`, the best agents are first.',
    query: {
      ...pageQuery(),
      q: words('Words in name, description, skills or provider.'),
      name: words('Words in the name.'),
      tag: filter('A tag of a skill.'),
      skill: filter('The id or name of a skill.'),
      capability: filter('A capability, such as `streaming`, or the URI of an extension.'),
      inputMode: filter('An accepted media type, or a range such as `image/*`.'),
      outputMode: filter('A produced media type, or a range such as `image/*`.'),
      provider: filter('The organization of the provider.'),
      protocolVersion: filter('A version of A2A, such as `1.0`.'),
      facets: 'Filters whose most frequent values are counted, separated by commas.',
      set: 'The agents of this set that the token may read or write. Needs a token.',
      writable: {
        description: 'With `true`, the agents that the token may write, and no others. Needs a token with `write`.',
        schema: { const: 'true' },
      },
      id: {
        description: 'The registered ones of these agents. Needs a token with `write` for all of them. Stands alone.',
        schema: { type: 'array', items: { type: 'string' }, maxItems: MAX_PAGE_SIZE },
      },
    },
    answers: {
      200: {
        description: 'A page of agents. Lists for callers with a token have no entity tag.',
        content: { ...jsonBody('AgentList'), ...page },
        headers: ['ETag', 'Link'],
      },
      304: { description: 'The list is the one that `If-None-Match` names.', headers: ['ETag', 'Link'] },
    },
    headers: { 'If-None-Match': 'The entity tag of the list that the client has.' },
    problems: [...pageProblems, ...tokenProblems, 'bad-query', 'bad-set', 'bad-agent-id', 'admin-token-missing'],
    limits: ['CALL_LIMIT', 'AUTH_LIMIT', 'PAGE_LIMIT'],
  }),
  'GET /.well-known/ai-catalog.json': catalog('getAiCatalog', 'Get the AI Catalog', {
    'application/ai-catalog+json': 'AiCatalog',
  }),
  'GET /.well-known/ard.json': catalog('getArdManifest', 'Get the ARD manifest', jsonBody('ArdManifest')),
  'GET /.well-known/api-catalog': catalog('getApiCatalog', 'Get the API catalog (RFC 9727)', {
    'application/linkset+json': 'LinkSet',
  }),
  'GET /llms.txt': catalog('getLlmsText', 'Get the list of agents for language models', {
    'text/plain': { type: 'string' },
  }),
  'GET /robots.txt': catalog('getRobotsText', 'Get the rules for crawlers', { 'text/plain': { type: 'string' } }),
  'GET /sitemap.xml': catalogs('getSitemap', 'Get the sitemap of the pages of agents', {
    query: {
      page: {
        description: 'The page of a sitemap that is too large for one document. Without it, that is an index of pages.',
        schema: { type: 'integer', minimum: 1 },
      },
    },
    answers: { 200: answer('A sitemap or an index.', { 'application/xml': { type: 'string' } }, 'Link') },
    problems: ['bad-page', 'unknown-query', 'not-found'],
  }),
  'POST /search': ardSearch('search', 'Search agents in natural language, at the root of the host'),
  'POST /ard/search': ardSearch('searchArd', 'Search agents in natural language (ARD)'),
  'GET /ard/agents': catalogs('listArdEntries', 'List the entries of the ARD manifest', {
    query: {
      pageSize: {
        description: 'The maximum number of entries.',
        schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: 20 },
      },
      pageToken: 'The `pageToken` of the previous page.',
    },
    answers: { 200: answer('A page of entries, by id.', 'ArdList') },
    problems: ['bad-query', 'unknown-query'],
    errors: 'ard',
  }),
  'GET /ard/agents/:identifier': catalogs('getArdEntry', 'Get one entry of the ARD manifest', {
    answers: { 200: answer('The entry of the agent.', 'ArdEntry') },
    problems: ['not-found', 'bad-query'],
    errors: 'ard',
  }),
} as const satisfies Operations

import { dialectNames } from '../../card/model/index.ts'
import { MAX_CATALOG_ENTRIES, MAX_FILTERS, MAX_PAGE_SIZE, MAX_QUERY_LENGTH, MAX_QUERY_WORDS } from '../../limits.ts'
import { jsonBody, type Operation, type Operations, page, pageProblems, pageQuery } from './operation.ts'

const card = {
  tag: 'cards',
  access: 'optional',
  query: {
    dialect: {
      description: 'The dialect of the card. It wins over the version.',
      schema: { enum: ['hybrid', ...dialectNames] },
    },
    'A2A-Version': { description: 'The same as the header.', schema: { type: 'string' } },
  },
  headers: {
    'A2A-Version': {
      description: 'The version of A2A that the card should have the form of: 1.0 or 0.3.',
      schema: { type: 'string' },
    },
    Prefer: {
      description: '`server-timing` adds `Server-Timing` to the response (RFC 7240).',
      schema: { type: 'string' },
    },
  },
  answers: {
    200: {
      description: 'The card.',
      content: jsonBody('AgentCard'),
      headers: ['Last-Modified', 'A2A-Version'],
    },
  },
  validated: true,
} as const satisfies Partial<Operation>

const cardProblems = ['unknown-dialect', 'upstream-unreachable', 'upstream-not-ready', 'upstream-timeout'] as const

const agentCard = (id: string, summary: string): Operation => ({
  ...card,
  id,
  summary,
  description:
    'An internal agent needs a token with the scope `read`; without one, the response is that for an unknown agent.',
  problems: ['agent-not-found', ...cardProblems],
})

const picture = (id: string, summary: string): Operation => ({
  id,
  tag: 'pages',
  summary,
  description: 'Shows what the caller may read of the card.',
  access: 'optional',
  answers: { 200: { description: 'The picture.', content: { 'image/svg+xml': { type: 'string' } } } },
  validated: true,
  problems: ['agent-not-found', 'upstream-unreachable', 'upstream-not-ready', 'upstream-timeout'],
  limits: ['PAGE_LIMIT'],
})

const hostCard = (id: string, summary: string): Operation => ({
  ...card,
  id,
  summary,
  problems: ['no-root-agent', ...cardProblems],
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

const catalog = (id: string, summary: string, content: NonNullable<Operation['answers'][number]['content']>) =>
  ({
    id,
    tag: 'catalogs',
    summary,
    access: 'public',
    query: pageQuery(MAX_CATALOG_ENTRIES),
    answers: { 200: { description: 'The public agents of the host name.', content, headers: ['Link'] } },
    validated: true,
    problems: pageProblems,
    limits: ['CALL_LIMIT'],
  }) as const satisfies Operation

/** The routes of cards, lists and catalogs. */
export const cardRoutes = {
  'GET /.well-known/agent-card.json': hostCard('getHostCard', 'Get the card of the agent of this host name'),
  'GET /.well-known/agent.json': hostCard('getHostAgentJson', 'Get the same card at the path of older clients'),
  'GET /agents/:id/.well-known/agent-card.json': agentCard('getWellKnownAgentCard', 'Get the card of an agent'),
  'GET /agents/:id/.well-known/agent.json': agentCard('getAgentJson', 'Get the same card at the path of older clients'),
  'GET /agents/:id': {
    ...agentCard('getAgentCard', 'Get the card of an agent, or its page'),
    answers: { 200: { ...card.answers[200], content: { ...jsonBody('AgentCard'), ...page } } },
    limits: ['PAGE_LIMIT'],
  },
  'GET /agents/:id/card.svg': picture('getCardImage', 'Get the business card of an agent as a picture'),
  'GET /agents/:id/badge.svg': {
    ...picture('getBadge', 'Get the badge with the versions of A2A that a card declares'),
    query: {
      show: { description: 'Shows what the newest check of the agent has shown, too.', schema: { const: 'receipt' } },
    },
  },
  'GET /': {
    id: 'getCatalogPage',
    tag: 'pages',
    summary: 'Get the page on which people find agents',
    description: 'For browsers only. Its query is that of `GET /agents`.',
    access: 'public',
    answers: { 200: { description: 'The page.', content: page } },
    validated: true,
    problems: ['not-found'],
    limits: ['PAGE_LIMIT'],
  },
  'GET /agents/.well-known/:file': {
    id: 'getCardWithoutAgent',
    tag: 'cards',
    summary: 'Learn that the base URL has lost the id of the agent',
    access: 'public',
    answers: {},
    problems: ['agent-not-found'],
  },
  'GET /.well-known/jwks.json': {
    id: 'getKeySet',
    tag: 'documents',
    summary: 'Get the public keys with which this host signs',
    access: 'public',
    answers: { 200: { description: 'A JWK Set (RFC 7517).', content: { 'application/jwk-set+json': 'JwkSet' } } },
    validated: true,
    problems: ['no-signing-key'],
  },
  'GET /.well-known/did.json': {
    id: 'getDidDocument',
    tag: 'documents',
    summary: 'Get these keys as the DID document of the host name',
    description: 'Only for the host name of `PUBLIC_URL` and those that agents claim.',
    access: 'public',
    answers: {
      200: {
        description: 'The document of a DID of the method `web`.',
        content: { 'application/did+json': 'DidDocument' },
      },
    },
    validated: true,
    problems: ['no-signing-key', 'unknown-host'],
  },
  'GET /agents': {
    id: 'listAgents',
    tag: 'cards',
    summary: 'List or search the agents',
    description:
      'Without a token, the public agents; with one, also the internal agents that it may read. All parameters of a search must match. With `q` or `name`, the best agents are first.',
    access: 'optional',
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
      facets: {
        description: 'Filters whose most frequent values are counted, separated by commas.',
        schema: { type: 'string' },
      },
      set: {
        description: 'The agents of this set that the token may read or write. Needs a token.',
        schema: { type: 'string' },
      },
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
    headers: {
      'If-None-Match': { description: 'The entity tag of the list that the client has.', schema: { type: 'string' } },
    },
    problems: [
      ...pageProblems,
      ...([
        'bad-query',
        'bad-set',
        'no-token',
        'bad-token',
        'forbidden',
        'bad-agent-id',
        'admin-token-missing',
      ] as const),
    ],
    limits: ['CALL_LIMIT', 'AUTH_LIMIT', 'PAGE_LIMIT'],
  },
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
  'GET /sitemap.xml': {
    id: 'getSitemap',
    tag: 'catalogs',
    summary: 'Get the sitemap of the pages of agents',
    access: 'public',
    query: {
      page: {
        description: 'The page of a sitemap that is too large for one document. Without it, that is an index of pages.',
        schema: { type: 'integer', minimum: 1 },
      },
    },
    answers: {
      200: {
        description: 'A sitemap or an index.',
        content: { 'application/xml': { type: 'string' } },
        headers: ['Link'],
      },
    },
    validated: true,
    problems: ['bad-page', 'unknown-query', 'not-found'],
    limits: ['CALL_LIMIT'],
  },
  'POST /search': {
    id: 'search',
    ...ardSearch(),
    summary: 'Search agents in natural language, at the root of the host',
  },
  'POST /ard/search': { id: 'searchArd', ...ardSearch(), summary: 'Search agents in natural language (ARD)' },
  'GET /ard/agents': {
    id: 'listArdEntries',
    tag: 'catalogs',
    summary: 'List the entries of the ARD manifest',
    access: 'public',
    query: {
      pageSize: {
        description: 'The maximum number of entries.',
        schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: 20 },
      },
      pageToken: { description: 'The `pageToken` of the previous page.', schema: { type: 'string' } },
    },
    answers: { 200: { description: 'A page of entries, by id.', content: jsonBody('ArdList') } },
    validated: true,
    problems: ['bad-query', 'unknown-query'],
    limits: ['CALL_LIMIT'],
    errors: 'ard',
  },
  'GET /ard/agents/:identifier': {
    id: 'getArdEntry',
    tag: 'catalogs',
    summary: 'Get one entry of the ARD manifest',
    access: 'public',
    answers: { 200: { description: 'The entry of the agent.', content: jsonBody('ArdEntry') } },
    validated: true,
    problems: ['not-found', 'bad-query'],
    limits: ['CALL_LIMIT'],
    errors: 'ard',
  },
} as const satisfies Operations

function ardSearch() {
  return {
    tag: 'catalogs',
    access: 'public',
    body: { content: jsonBody('ArdSearchRequest') },
    answers: { 200: { description: 'The best agents first.', content: jsonBody('ArdSearchResult') } },
    problems: ['bad-query', 'bad-cursor'],
    limits: ['CALL_LIMIT'],
    errors: 'ard',
  } as const satisfies Partial<Operation>
}

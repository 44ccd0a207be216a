import { endpoint } from '../../api/contract/index.ts'
import { fetchCacheable } from '../../api/index.ts'
import type { FoundAgent } from '../../api/schemas/index.ts'
import { config } from '../../config.ts'
import { NO_STORE, parseUrl, type RequestContext } from '../../http/index.ts'
import { Badges, List, Message, Paragraph, Prose, plural, shorten, Tags } from '../components/index.ts'
import { Monogram } from '../images/index.ts'
import { described, pageResponse, SearchRow, withErrorPages } from '../layout/index.ts'
import { type Facets, facetNames, labelCapability } from './facets.ts'
import { Filters } from './filters.tsx'

const AGENTS_PER_PAGE = 24

type Found = { agents: FoundAgent[]; cursor?: string; facets: Facets; approximate?: boolean }
type Problem = { detail: string }

/** Only parameters of the API count, and no empty ones, which a form sends. */
const respond = async ({ request, env, ctx }: RequestContext): Promise<Response> => {
  const parameters = new Set<string>(['q', 'cursor', ...facetNames])
  const { searchParams, origin } = new URL(request.url)
  const given = [...searchParams].filter(([name, value]) => parameters.has(name) && value.trim() !== '')
  const search = new URLSearchParams(given)
  const words = search.get('q')
  const asked = new URLSearchParams(search)
  if (words !== null) asked.set('q', withoutFillers(words))
  const query = new URLSearchParams([...asked, ['facets', facetNames.join(',')], ['limit', String(AGENTS_PER_PAGE)]])
  const response = await fetchCacheable('/agents', query, ctx)
  const found = await response.json<Found | Problem>()
  const retryAfter = response.headers.get('Retry-After')
  const { publicCacheControl, publicOrigin = origin } = config(env)
  const title = words === null ? 'Agents' : `Agents: ${words}`
  const main = <Catalog search={search} found={found} origin={publicOrigin} />
  return pageResponse({ title, section: 'agents', main, script: 'catalog-page.js' }, request, {
    status: response.status,
    cacheControl: response.ok ? publicCacheControl : NO_STORE,
    headers: response.ok || retryAfter === null ? {} : { 'Retry-After': retryAfter },
  })
}

/** `GET /` and `GET /agents` for browsers: the agents that match a search. */
export const getCatalogPage = withErrorPages(
  endpoint(
    {
      ...described,
      summary: 'Get the page on which people find agents',
      description: 'For browsers only. Its query is that of `GET /agents`.',
      problems: ['not-found'],
    },
    respond,
  ),
)

/** The words of a question that say nothing of an agent. */
const FILLERS = new Set(
  'a an and agent agents can do does for i in is me my of on or that the to which who with'.split(' '),
)

const withoutFillers = (text: string): string => {
  const words = text.split(/\s+/)
  const kept = words.filter(word => !FILLERS.has(word.toLowerCase()))
  return kept.length > 0 ? kept.join(' ') : text
}

type CatalogProps = { search: URLSearchParams; found: Found | Problem; origin: string }

const Catalog = ({ search, found, origin }: CatalogProps) => {
  const { facets, approximate } = 'agents' in found ? found : { facets: {} }
  return (
    <>
      <h1>Agents</h1>
      <p>
        Find AI agents, try them, and call them from your programs over <a href="https://a2a-protocol.org">A2A</a>, the
        protocol in which agents talk to each other. To add one of yours, <a href="/manage">register an agent</a>.
      </p>
      <form class="catalog" id="search" action="/agents">
        <SearchRow label="Search agents" words={search.get('q')} />
        <Filters search={search} facets={facets} isApproximate={approximate} />
        <section id="results" class="results" aria-labelledby="count">
          {'agents' in found ? (
            <Results search={search} found={found} origin={origin} />
          ) : (
            <>
              <p id="count" class="message bad" role="alert">
                {found.detail}
              </p>
              <p>
                <a href="/agents">See all agents</a>
              </p>
            </>
          )}
        </section>
      </form>
    </>
  )
}

const Results = ({ search, found, origin }: CatalogProps & { found: Found }) => {
  const { agents, cursor } = found
  const isSearch = search.size > (search.has('cursor') ? 1 : 0)
  const count = cursor === undefined ? plural(agents.length, 'agent') : `${agents.length} or more agents`
  const order = search.has('q') ? 'best match first' : 'in the order of their registration'
  // Where others are signed, one that is not is the exception.
  const isSigned = agents.some(({ signed }) => signed)
  return (
    <>
      <p id="count" class="muted" role="status">
        {count}
        {isSearch && ' found'}
        {agents.length > 1 && `, ${order}`}
      </p>
      {agents.length === 0 && (isSearch ? <NothingFound /> : <NoAgents />)}
      <ul class="agents">
        {agents.map(agent => (
          <Agent agent={agent} origin={origin} isUnsigned={isSigned && !agent.signed} />
        ))}
      </ul>
      <p>
        {search.has('cursor') && <PageLink url={pageUrl(search)} label="First page" />}{' '}
        {cursor !== undefined && <PageLink url={pageUrl(search, cursor)} label="Next page" rel="next" />}
      </p>
    </>
  )
}

const PageLink = ({ url, label, rel }: { url: string; label: string; rel?: 'next' }) => (
  <a class="button" rel={rel} href={url}>
    {label}
  </a>
)

const pageUrl = (search: URLSearchParams, cursor?: string): string => {
  const query = new URLSearchParams(search)
  query.delete('cursor')
  if (cursor !== undefined) query.set('cursor', cursor)
  return query.size === 0 ? '/agents' : `/agents?${query}`
}

const NothingFound = () => (
  <p>
    No agent matches. Try fewer words or filters, or <a href="/agents">see all agents</a>.
  </p>
)

const NoAgents = () => (
  <Message kind="info">
    <p>No agent is registered here yet. There are two ways to add the first:</p>
    <List
      items={[
        ['in a browser, with a token: ', <a href="/manage">register an agent</a>],
        <Prose text="in a clone of this host, with a folder of cards: `npx sync-card init`, then `npx sync-card`" />,
      ]}
    />
    <p>
      <a href="/lint">Check a card</a> shows what could be better in one.
    </p>
  </Message>
)

const MAX_TAGS = 6

/** Characters of a description, of which the style sheet shows a few lines. */
const MAX_DESCRIPTION_LENGTH = 400

/** The capabilities that the list shows. */
const BADGES = ['streaming', 'pushNotifications', 'extendedAgentCard']

const Agent = ({ agent, origin, isUnsigned }: { agent: FoundAgent; origin: string; isUnsigned: boolean }) => {
  const { id, name, description, version, provider, url, tags, capabilities, protocolVersions } = agent
  const address = parseUrl(url)
  const byline = [shorten(version, 40), shorten(provider ?? '', 120)]
  const features = [
    protocolVersions.length > 0 && `A2A ${protocolVersions.toSorted().toReversed().slice(0, 4).join(', ')}`,
    ...BADGES.filter(name => capabilities.includes(name)).map(labelCapability),
    isUnsigned && 'Not signed',
  ].filter(Boolean)
  return (
    <li class="panel agent">
      <div class="icon">
        <Monogram id={id} name={name} size={44} />
      </div>
      <div class="identity">
        <h2 dir="auto">
          <a href={`/agents/${id}`}>{shorten(name, 120)}</a>
        </h2>
        <Paragraph class="muted byline" text={byline.filter(Boolean).join(' · ')} />
      </div>
      <Paragraph class="description" text={shorten(description, MAX_DESCRIPTION_LENGTH)} />
      {address && address.origin !== origin && (
        <p class="other-host">
          Runs at <bdi>{shorten(address.host, 80)}</bdi>
        </p>
      )}
      <Badges labels={features} title="Features" />
      <Tags tags={tags.slice(0, MAX_TAGS)} />
    </li>
  )
}

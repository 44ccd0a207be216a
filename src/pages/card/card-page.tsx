import { agentPath, endpoint } from '../../api/contract/index.ts'
import { agentNotFound } from '../../api/index.ts'
import { type AgentCard, agentIdPattern, describeAge } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { parseUrl, type RequestContext } from '../../http/index.ts'
import type { Json } from '../../json/index.ts'
import { isStale, staleHeaders } from '../../registry/index.ts'
import {
  Badges,
  Fold,
  Inline,
  JsonText,
  Paragraph,
  printable,
  representationLabels,
  shorten,
} from '../components/index.ts'
import { firstSentence, Monogram } from '../images/index.ts'
import { described, type Page, pageResponse, withErrorPages } from '../layout/index.ts'
import { Authentication } from './authentication.tsx'
import { boundCard, headline } from './bound-card.ts'
import { type CardFacts, loadFacts } from './card-facts.ts'
import { About, Capabilities, Endpoints, Skills, Tests } from './details.tsx'
import { exampleCall } from './example-call.ts'
import { Head, MAX_DESCRIPTION_LENGTH, MAX_TITLE_LENGTH } from './head.tsx'
import { Signatures, signingWords } from './signatures.tsx'
import { TryIt } from './try-it.tsx'
import { UseIt } from './use-it.tsx'

const respond = async ({ params: { id }, ...context }: RequestContext & { params: { id: string } }) => {
  if (!agentIdPattern.test(id)) return agentNotFound(id)
  const { request, env } = context
  const view = new URL(request.url).searchParams.get('view')
  const { facts, document } = await loadFacts(id, findView(view).representation, context)
  const { source } = facts
  return pageResponse(renderCardPage(facts, document, view), request, {
    cacheControl: config(env).publicCacheControl,
    ...(source && isStale(source) && { headers: staleHeaders(source) }),
  })
}

/** `GET /agents/{id}` for browsers: an agent, for people who want to use it. */
export const getCardPage = withErrorPages(
  endpoint(
    { ...described, summary: 'Get the page of an agent', params: agentPath, problems: ['agent-not-found'] },
    respond,
  ),
)

/** Returns the page of an agent, with a document of its card. `view` is the name of its representation, if chosen. */
export const renderCardPage = (facts: CardFacts, document: Json, view: string | null = null): Page => {
  const title = headline(facts.card.name, MAX_TITLE_LENGTH) || facts.id
  const description = headline(facts.card.description, MAX_DESCRIPTION_LENGTH)
  return {
    ...{ title, description, section: 'agents', script: 'card-page.js', connectTo: callableOrigins(facts) },
    head: <Head facts={facts} title={title} description={description} />,
    main: <CardPage facts={facts} document={document} view={view} />,
  }
}

const CardPage = ({ facts, document, view }: { facts: CardFacts; document: Json; view: string | null }) => {
  const { id, source, route } = facts
  const { card, isCut } = boundCard(facts.card)
  const call = exampleCall(facts)
  const checked = source && isStale(source) && new Date(source.checked)
  return (
    <article class="card-page">
      {checked && (
        <p class="message warn">
          This host cannot reach the server that publishes this card. This is the copy of{' '}
          <time datetime={checked.toISOString()}>{checked.toUTCString()}</time>.
        </p>
      )}
      {isCut && (
        <p class="message warn">
          This card is too large for a page, which shows a part of it.{' '}
          <a href={rawPath(id, findView(view))}>The raw document</a> has all.
        </p>
      )}
      <Hero facts={facts} card={card} />
      <div class="columns">
        <TryIt facts={facts} call={call} />
        <UseIt facts={facts} call={call} />
      </div>
      <div class="columns details">
        <Skills card={card} total={facts.card.skills.length} />
        <div>
          <Endpoints route={route} interfaces={card.supportedInterfaces} />
          <Authentication card={card} moreSkills={facts.moreSkills} />
          <Capabilities card={card} />
          <About facts={facts} card={card} />
        </div>
      </div>
      <Signatures {...facts} />
      <Tests {...facts} />
      <CardDocument id={id} view={view} document={document} />
      <p id="status" class="visually-hidden" role="status" />
    </article>
  )
}

/** Characters of the sentence above the fold; the rest is below it. */
const MAX_LEAD = 240

/** Characters of a name in large letters. */
const MAX_LARGE_NAME = 60

/** Versions of A2A above the fold; the endpoints name all. */
const MAX_SHOWN_VERSIONS = 4

const Hero = ({ facts, card }: { facts: CardFacts; card: AgentCard }) => {
  const { name, description, provider, supportedInterfaces, capabilities } = card
  const versions = [...new Set(supportedInterfaces.map(({ protocolVersion }) => protocolVersion))]
  const features = [
    ...versions.slice(0, MAX_SHOWN_VERSIONS).map(version => ['A2A ', <Inline text={version} />]),
    capabilities.streaming && 'Streaming',
    capabilities.pushNotifications && 'Push notifications',
    capabilities.extendedAgentCard && 'Extended card',
  ].filter(Boolean)
  const lead = shorten(firstSentence(description), MAX_LEAD)
  return (
    <header class="hero">
      <Icon {...facts} />
      <div class="identity">
        <h1 dir="auto" class={name.length > MAX_LARGE_NAME ? 'long' : undefined}>
          {printable(name)}
        </h1>
        {provider?.organization !== undefined && <Paragraph class="muted byline" text={provider.organization} />}
      </div>
      <Paragraph class="lead" text={lead} />
      <State {...facts} />
      <Badges labels={features} title="Features" />
      {description.trim() !== lead && (
        <Fold title="Read more">
          <Paragraph class="text" text={description} />
        </Fold>
      )}
    </header>
  )
}

/** Whether the agent works, since when that is known, and who signed its card, in a line. */
const State = ({ check, modified, signing }: CardFacts) => (
  <p class="state">
    {check ? <Result {...check} /> : <>Not tested by this host</>} · changed{' '}
    <time datetime={modified.toISOString()}>{modified.toLocaleDateString('en', { dateStyle: 'medium' })}</time> ·{' '}
    {signing.signers.length > 0 ? <a href="#signatures">{signingWords(signing)}</a> : signingWords(signing)}
  </p>
)

const Result = ({ receipt, current, now }: NonNullable<CardFacts['check']>) => {
  const { passed, failed } = receipt.summary
  return (
    <>
      <a href="#tests" class={failed > 0 ? 'bad' : 'good'}>
        {failed > 0 ? `${failed} of ${passed + failed} tests failed` : 'Works'}
      </a>
      , tested <time datetime={receipt.checked}>{describeAge(receipt.checked, now)}</time>
      {!current && ' (an older card)'}
    </>
  )
}

/** The icon of an agent if it is on this host, else a monogram: the page loads no images of other hosts. */
const Icon = ({ id, card, origin }: CardFacts) => {
  const url = card.iconUrl === undefined ? null : parseUrl(card.iconUrl)
  // Without the origin, because the page may have been opened under another name of this host.
  const own = url?.origin === origin ? url.pathname.replace(/^\/+/, '/') + url.search : undefined
  return (
    <div class="icon">
      {own === undefined ? (
        <Monogram id={id} name={card.name} size={64} />
      ) : (
        <img src={own} alt="" width={64} height={64} />
      )}
    </div>
  )
}

const MAX_ORIGINS = 10

/** Returns the origins of the endpoints in the card, which the console calls. */
const callableOrigins = ({ card, origin }: CardFacts): string[] => {
  const origins = card.supportedInterfaces.flatMap(({ url }) => parseUrl(url)?.origin ?? [])
  // A host without TLS is in development, and its agents may be, too.
  const scheme = origin.startsWith('http:') ? 'https?' : 'https'
  // A host name may have characters that a policy reads otherwise.
  const plain = origins.filter(each => new RegExp(`^${scheme}://[a-z0-9.-]+(?::\\d+)?$`).test(each))
  return [...new Set(plain)].slice(0, MAX_ORIGINS)
}

/** The views of a card, the default first: a representation, its name in `?view=`, and its label. */
export const views = (['1.0', '0.3', 'agent-card.json', 'gopherhole', 'superx', 'shaman', 'telex'] as const).map(
  representation => ({
    name: representation === 'agent-card.json' ? 'hybrid' : representation,
    representation,
    label: representationLabels[representation],
  }),
)

/** One of the views. */
type View = (typeof views)[number]

/** Returns the view that a page shows: the default for a name that does not exist. */
export const findView = (name: string | null): View => (views.find(view => view.name === name) ?? views[0]) as View

/** Returns the address of the document of a view, which is JSON for a browser too. */
const rawPath = (id: string, { name }: View): string =>
  `/agents/${id}/.well-known/agent-card.json${name === 'hybrid' ? '' : `?dialect=${name}`}`

/** The card as JSON, with the switch between representations: a line that is open once one was chosen. */
export const CardDocument = ({ id, view, document }: { id: string; view: string | null; document: Json }) => {
  const shown = findView(view)
  const raw = <a href={rawPath(id, shown)}>Open the raw document</a>
  return (
    <Fold class="line" title={`The card as JSON, in ${views.length} dialects`} open={view !== null}>
      <section id="document" aria-label="The card as JSON">
        <nav class="views" aria-label="Representations">
          <ul>
            {views.map(({ name, label }) => (
              <li>
                <a href={`?view=${name}#document`} aria-current={name === shown.name ? 'true' : undefined}>
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <p>{raw}</p>
        <JsonText id="json" label={`The card in ${shown.label}`} value={document} more={raw} />
      </section>
    </Fold>
  )
}

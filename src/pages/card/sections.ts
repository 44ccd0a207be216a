import { html } from 'hono/html'
import type { AgentCard, AgentInterface, AgentSkill } from '../../card/model/index.ts'
import { isJsonObject } from '../../json/index.ts'
import type { Html } from '../layout/index.ts'
import { webUrl } from '../text/index.ts'
import { requirementSentence, schemeList } from './authentication.ts'
import type { CardFacts } from './facts.ts'
import { signingWords } from './signatures.ts'
import type { Snippet } from './snippets.ts'
import { code, inline, printable, sentenceList, visibleJson, webLink } from './text.ts'

type Capabilities = AgentCard['capabilities']

/** Versions of A2A above the fold; the endpoints name all. */
const MAX_SHOWN_VERSIONS = 4

/** Returns the badges of an agent: the versions of A2A that it speaks, and its capabilities. */
export const badges = ({ card, signing }: CardFacts): Html => {
  const { supportedInterfaces, capabilities } = card
  const versions = [...new Set(supportedInterfaces.map(({ protocolVersion }) => protocolVersion))]
  const labels = [
    ...versions.slice(0, MAX_SHOWN_VERSIONS).map(version => html`A2A ${inline(version)}`),
    ...(capabilities.streaming ? ['Streaming'] : []),
    ...(capabilities.pushNotifications ? ['Push notifications'] : []),
    ...(capabilities.extendedAgentCard ? ['Extended card'] : []),
    ...(signing.signers.length > 0 ? ['Signed'] : []),
  ]
  return html`<ul class="tags" aria-label="Features">${labels.map(label => html`<li class="badge">${label}</li>`)}</ul>`
}

/** Renders the skills of an agent. */
export const skillsSection = ({ skills, securitySchemes }: AgentCard, total: number): Html =>
  html`<section aria-labelledby="skills"><h2 id="skills">Skills <span class="muted">(${total})</span></h2>
${skills.map(skill => skillItem(skill, securitySchemes))}
</section>`

const skillItem = (skill: AgentSkill, schemes: AgentCard['securitySchemes']): Html => {
  const { id, name, description, tags, examples = [], inputModes = [], outputModes = [], securityRequirements } = skill
  return html`<article class="panel skill">
<h3 dir="auto">${printable(name)}</h3>
<p class="text" dir="auto">${printable(description)}</p>
<ul class="tags" aria-label="Tags">${tags.map(tag => html`<li class="tag"><a href="/agents?tag=${encodeURIComponent(tag.toWellFormed())}" dir="auto">${printable(tag)}</a></li>`)}</ul>
${examples.length === 0 ? '' : html`<h4>Examples</h4><ul class="examples">${examples.map(example => html`<li dir="auto">${printable(example)}</li>`)}</ul>`}
<dl class="facts"><dt>Id</dt><dd>${code(id)}</dd>${modeRow('Accepts', inputModes)}${modeRow('Produces', outputModes)}</dl>
${securityRequirements === undefined || securityRequirements.length === 0 ? '' : requirementSentence(securityRequirements, schemes, 'Calls of this skill need')}
</article>`
}

const modeRow = (label: string, modes: readonly string[]): Html | string =>
  modes.length === 0
    ? ''
    : html`<dt>${label}</dt><dd><ul class="codes">${modes.map(mode => html`<li>${code(mode)}</li>`)}</ul></dd>`

const routeWords = {
  gateway: 'Calls go through this host, which checks them against the card and forwards them.',
  direct: 'Calls go to the agent itself.',
  closed: 'The agent is closed: this host refuses its calls.',
} as const

/** Renders where an agent is called: each address once, with the protocols that it speaks. */
export const endpointsSection = ({ route }: CardFacts, interfaces: readonly AgentInterface[]): Html => {
  const endpoints = Map.groupBy(interfaces, ({ url, tenant }) => JSON.stringify([url, tenant]))
  return html`<section aria-labelledby="endpoints"><h2 id="endpoints">Endpoints</h2>
<p>${routeWords[route]}</p>
<ul class="endpoints">${[...endpoints.values()].map(endpoint)}</ul>
</section>`
}

const endpoint = (interfaces: readonly AgentInterface[], index: number): Html | string => {
  const [first] = interfaces
  if (first === undefined) return ''
  const bindings = Map.groupBy(interfaces, ({ protocolBinding }) => protocolBinding)
  return html`<li class="panel">
<dl class="facts">${[...bindings].map(
    ([binding, each]) =>
      html`<dt>${inline(binding)}</dt><dd>A2A ${sentenceList(
        each.map(({ protocolVersion }) => inline(protocolVersion)),
        'and',
      )}</dd>`,
  )}${first.tenant === undefined ? '' : html`<dt>Tenant</dt><dd>${code(first.tenant)}</dd>`}</dl>
<p class="copied"><code id="endpoint-${index}" dir="ltr">${printable(first.url)}</code><button type="button" class="copy" data-copies="endpoint-${index}" aria-label="Copy endpoint ${index + 1}">Copy</button></p>
</li>`
}

/** Renders how to authenticate. */
export const authenticationSection = ({ securityRequirements, securitySchemes }: AgentCard): Html =>
  html`<section aria-labelledby="authentication"><h2 id="authentication">Authentication</h2>
${requirementSentence(securityRequirements, securitySchemes)}
${schemeList(securitySchemes)}
</section>`

const capabilityWords: readonly (readonly [name: keyof Capabilities & string, yes: string, no: string])[] = [
  ['streaming', 'Streams its answers as they arise.', 'Answers as a whole, without streaming.'],
  ['pushNotifications', 'Reports on tasks to a webhook of the caller.', 'Sends no push notifications.'],
  ['extendedAgentCard', 'Has an extended card for callers with credentials.', 'Has no extended card.'],
]

/** Renders what an agent can do besides its skills. */
export const capabilitiesSection = ({ capabilities, defaultInputModes, defaultOutputModes }: AgentCard): Html => {
  const { extensions = [] } = capabilities
  return html`<section aria-labelledby="capabilities"><h2 id="capabilities">Capabilities</h2>
<ul class="capabilities">${capabilityWords.map(([name, yes, no]) =>
    capabilities[name] === true ? html`<li class="yes">${yes}</li>` : html`<li class="no">${no}</li>`,
  )}</ul>
<dl class="facts">${modeRow('Accepts', defaultInputModes)}${modeRow('Produces', defaultOutputModes)}</dl>
${
  extensions.length === 0
    ? ''
    : html`<h3>Extensions</h3>
<ul class="extensions">${extensions.map(
        ({
          uri,
          description,
          required,
          params,
        }) => html`<li>${webLink(uri)}${required ? html` <span class="badge">required</span>` : ''}
${description === undefined || description === '' ? '' : html`<p dir="auto">${printable(description)}</p>`}${
  isJsonObject(params) && Object.keys(params).length > 0 ? html`<p>${code(visibleJson(params))}</p>` : ''
}</li>`,
      )}</ul>`
}
</section>`
}

/** Renders who provides an agent, and when its card changed. */
export const aboutSection = (facts: CardFacts, { version, provider, documentationUrl, iconUrl }: AgentCard): Html => {
  const { id, modified, signing } = facts
  const rows: [label: string, value: Html][] = [
    ...(provider?.organization === undefined ? [] : [['Provider', inline(provider.organization)] as [string, Html]]),
    ...(provider?.url === undefined ? [] : [['Website', webLink(provider.url)] as [string, Html]]),
    ['Version', inline(version)],
    ...(documentationUrl === undefined ? [] : [['Documentation', webLink(documentationUrl)] as [string, Html]]),
    ...(webUrl(iconUrl) === undefined ? [] : [['Icon', webLink(iconUrl ?? '')] as [string, Html]]),
    ['Changed', html`<time datetime="${modified.toISOString()}">${formatTime(modified)}</time>`],
    [
      'Signature',
      signing.signers.length === 0
        ? html`${signingWords(signing)}`
        : html`<a href="#signatures">${signingWords(signing)}</a>`,
    ],
    ['Id', code(id)],
  ]
  return html`<section aria-labelledby="about"><h2 id="about">About</h2>
<dl class="facts">${rows.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>
<p><a href="/manage#agents/${id}">Manage this agent</a></p>
</section>`
}

const formatTime = (time: Date): string =>
  `${time.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })} UTC`

/** Renders code that calls the agent. */
export const snippetsSection = (snippets: readonly Snippet[]): Html => {
  const variables = snippets[0]?.variables ?? []
  return html`<section aria-labelledby="snippets"><h2 id="snippets">Call it from code</h2>
${snippets.length > 1 ? '' : html`<p>There is no example of a call that this agent accepts; this fetches its card.</p>`}
${variables.length === 0 ? '' : html`<p>The code reads your credentials from the environment: ${variables.map((name, index) => html`${index > 0 ? ', ' : ''}<code>${name}</code>`)}.</p>`}
${snippets.map(
  (
    { name, title, code: text },
    index,
  ) => html`<details class="panel snippet" name="snippets"${index === 0 ? html` open` : ''}>
<summary>${title}</summary>
<p class="actions"><button type="button" class="copy" data-copies="snippet-${name}" aria-label="Copy ${title}">Copy</button></p>
<pre class="code" tabindex="0" role="region" aria-label="${title}" dir="ltr"><code id="snippet-${name}">${text}</code></pre>
</details>`,
)}
</section>`
}

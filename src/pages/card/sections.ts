import { html } from 'hono/html'
import { mcpSnippets } from '../../card/index.ts'
import { type AgentCard, type AgentSkill, describeAge, type ReceiptTest } from '../../card/model/index.ts'
import { isJsonObject } from '../../json/index.ts'
import type { Html } from '../layout/index.ts'
import { representationLabels, webUrl } from '../text/index.ts'
import { requirementSentence, schemeList } from './authentication.ts'
import type { CardFacts } from './card-facts.ts'
import { code, headline, inline, printable, sentenceList, visibleJson, webLink } from './markup.ts'
import type { CardSigning, Signer } from './signing.ts'
import type { Snippet } from './snippets.ts'

type Part = Html | false | undefined

/** Versions of A2A above the fold; the endpoints name all. */
const MAX_SHOWN_VERSIONS = 4

/** Returns the badges of an agent: the versions of A2A that it speaks, and its capabilities. */
export const badges = ({ card, signing }: CardFacts): Html => {
  const { supportedInterfaces, capabilities } = card
  const versions = [...new Set(supportedInterfaces.map(({ protocolVersion }) => protocolVersion))]
  const labels = [
    ...versions.slice(0, MAX_SHOWN_VERSIONS).map(version => html`A2A ${inline(version)}`),
    capabilities.streaming && 'Streaming',
    capabilities.pushNotifications && 'Push notifications',
    capabilities.extendedAgentCard && 'Extended card',
    signing.signers.length > 0 && 'Signed',
  ].filter(Boolean)
  return html`<ul class="tags" aria-label="Features">${labels.map(label => html`<li class="badge">${label}</li>`)}</ul>`
}

/** Renders what a card declares, and what this host knows of it. `card` is the part of the card that fits on a page. */
export const cardColumns = (facts: CardFacts, card: AgentCard): Html => html`<div class="columns">
<div>
${skillsSection(card, facts.card.skills.length)}
</div>
<div class="aside">
${endpointsSection(facts, card.supportedInterfaces)}
${authenticationSection(card)}
${capabilitiesSection(card)}
${signaturesSection(facts)}
${receiptSection(facts)}
${aboutSection(facts, card)}
</div>
</div>`

const section = (id: string, title: string | Html, content: Html): Html =>
  html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${content}
</section>`

const skillsSection = ({ skills, securitySchemes }: AgentCard, total: number): Html => {
  const items = html`${skills.map(skill => skillItem(skill, securitySchemes))}`
  return section('skills', html`Skills <span class="muted">(${total})</span>`, items)
}

const skillItem = (skill: AgentSkill, schemes: AgentCard['securitySchemes']): Html => {
  const { id, name, description, tags, examples = [], inputModes, outputModes, securityRequirements = [] } = skill
  const tagUrl = (tag: string) => `/agents?tag=${encodeURIComponent(tag.toWellFormed())}`
  const links = tags.map(tag => html`<li class="tag"><a href="${tagUrl(tag)}" dir="auto">${printable(tag)}</a></li>`)
  const items = examples.map(example => html`<li dir="auto">${printable(example)}</li>`)
  return html`<article class="panel skill">
<h3 dir="auto">${printable(name)}</h3>
<p class="text" dir="auto">${printable(description)}</p>
<ul class="tags" aria-label="Tags">${links}</ul>
${items.length > 0 && html`<h4>Examples</h4><ul class="examples">${items}</ul>`}
<dl class="facts"><dt>Id</dt><dd>${code(id)}</dd>
${modeRow('Accepts', inputModes)}${modeRow('Produces', outputModes)}</dl>
${securityRequirements.length > 0 && requirementSentence(securityRequirements, schemes, 'Calls of this skill need')}
</article>`
}

const modeRow = (label: string, modes: readonly string[] = []): Part =>
  modes.length > 0 &&
  html`<dt>${label}</dt><dd><ul class="codes">${modes.map(mode => html`<li>${code(mode)}</li>`)}</ul></dd>`

const routeWords = {
  gateway: 'Calls go through this host, which checks them against the card and forwards them.',
  direct: 'Calls go to the agent itself.',
  closed: 'The agent is closed: this host refuses its calls.',
} as const

/** Renders where an agent is called: each address once, with the protocols that it speaks. */
const endpointsSection = ({ route }: CardFacts, interfaces: AgentCard['supportedInterfaces']): Html => {
  const endpoints = Map.groupBy(interfaces, ({ url, tenant }) => JSON.stringify([url, tenant]))
  const items = [...endpoints.values()].map(endpointItem)
  return section('endpoints', 'Endpoints', html`<p>${routeWords[route]}</p>\n<ul class="endpoints">${items}</ul>`)
}

const endpointItem = (interfaces: AgentCard['supportedInterfaces'], index: number): Part => {
  const [first] = interfaces
  if (first === undefined) return undefined
  const bindings = [...Map.groupBy(interfaces, ({ protocolBinding }) => protocolBinding)].map(([binding, each]) => {
    const versions = each.map(({ protocolVersion }) => inline(protocolVersion))
    return html`<dt>${inline(binding)}</dt><dd>A2A ${sentenceList(versions, 'and')}</dd>`
  })
  return html`<li class="panel">
<dl class="facts">${bindings}${first.tenant !== undefined && html`<dt>Tenant</dt><dd>${code(first.tenant)}</dd>`}</dl>
<p class="copied"><code id="endpoint-${index}" dir="ltr">${printable(first.url)}</code><button type="button"
class="copy" data-copies="endpoint-${index}" aria-label="Copy endpoint ${index + 1}">Copy</button></p>
</li>`
}

const authenticationSection = ({ securityRequirements, securitySchemes }: AgentCard): Html => {
  const needed = requirementSentence(securityRequirements, securitySchemes)
  return section('authentication', 'Authentication', html`${needed}\n${schemeList(securitySchemes)}`)
}

const capabilityWords = [
  ['streaming', 'Streams its answers as they arise.', 'Answers as a whole, without streaming.'],
  ['pushNotifications', 'Reports on tasks to a webhook of the caller.', 'Sends no push notifications.'],
  ['extendedAgentCard', 'Has an extended card for callers with credentials.', 'Has no extended card.'],
] as const

/** Renders what an agent can do besides its skills. */
const capabilitiesSection = ({ capabilities, defaultInputModes, defaultOutputModes }: AgentCard): Html => {
  const items = capabilityWords.map(([name, yes, no]) =>
    capabilities[name] === true ? html`<li class="yes">${yes}</li>` : html`<li class="no">${no}</li>`,
  )
  const extensions = (capabilities.extensions ?? []).map(
    ({ uri, description = '', required, params }) =>
      html`<li>${webLink(uri)}${required && html` <span class="badge">required</span>`}
${description !== '' && html`<p dir="auto">${printable(description)}</p>`}
${isJsonObject(params) && Object.keys(params).length > 0 && html`<p>${code(visibleJson(params))}</p>`}</li>`,
  )
  const content = html`<ul class="capabilities">${items}</ul>
<dl class="facts">${modeRow('Accepts', defaultInputModes)}${modeRow('Produces', defaultOutputModes)}</dl>
${extensions.length > 0 && html`<h3>Extensions</h3>\n<ul class="extensions">${extensions}</ul>`}`
  return section('capabilities', 'Capabilities', content)
}

/** Renders who provides an agent, and when its card changed. */
const aboutSection = (facts: CardFacts, card: AgentCard): Html => {
  const { id, modified, signing } = facts
  const { version, provider, documentationUrl, iconUrl } = card
  const signed = signingWords(signing)
  const changed = modified.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  const rows: [label: string, value: Part | string][] = [
    ['Provider', provider?.organization !== undefined && inline(provider.organization)],
    ['Website', provider?.url !== undefined && webLink(provider.url)],
    ['Version', inline(version)],
    ['Documentation', documentationUrl !== undefined && webLink(documentationUrl)],
    ['Icon', iconUrl !== undefined && webUrl(iconUrl) !== undefined && webLink(iconUrl)],
    ['Changed', html`<time datetime="${modified.toISOString()}">${changed} UTC</time>`],
    ['Signature', signing.signers.length === 0 ? signed : html`<a href="#signatures">${signed}</a>`],
    ['Id', code(id)],
  ]
  const items = rows.map(([label, value]) => value && html`<dt>${label}</dt><dd>${value}</dd>`)
  const content = html`<dl class="facts">${items}</dl>
<p><a href="/manage#agents/${id}">Manage this agent</a></p>`
  return section('about', 'About', content)
}

/** Renders code that calls the agent. */
export const snippetsSection = (snippets: readonly Snippet[]): Html => {
  const variables = (snippets[0]?.variables ?? []).map((name, index) => [index > 0 && ', ', html`<code>${name}</code>`])
  const fallback = html`<p>There is no example of a call that this agent accepts; this fetches its card.</p>`
  const content = html`${snippets.length === 1 && fallback}
${variables.length > 0 && html`<p>The code reads your credentials from the environment: ${variables}.</p>`}
${snippetItems('snippets', snippets)}`
  return section('snippets', 'Call it from code', content)
}

const snippetItems = (group: string, snippets: readonly { name: string; title: string; code: string }[]) =>
  snippets.map(
    ({ name, title, code: text }, index) =>
      html`<details class="panel snippet" name="${group}"${index === 0 && html` open`}>
<summary>${title}</summary>
<p class="actions"><button type="button" class="copy" data-copies="snippet-${name}"
aria-label="Copy ${title}">Copy</button></p>
<pre class="code" tabindex="0" role="region" aria-label="${title}"
dir="ltr"><code id="snippet-${name}">${text}</code></pre>
</details>`,
  )

/** Renders how MCP clients use an agent. */
export const mcpSection = ({ id, mcpServer }: CardFacts): Part =>
  mcpServer &&
  section(
    'mcp',
    'Use it from MCP clients',
    html`<p>Claude, Cursor and other MCP clients call the agent here.
${mcpServer.headers.length > 0 && 'Replace … by your secret.'}</p>
<p class="copied"><code id="mcp-url" dir="ltr">${mcpServer.url}</code><button type="button" class="copy"
data-copies="mcp-url" aria-label="Copy the address for MCP clients">Copy</button></p>
${snippetItems('mcp', mcpSnippets(id, mcpServer))}`,
  )

/** Renders what the newest check of an agent has shown; nothing for an agent that was never checked. */
const receiptSection = ({ id, check }: CardFacts): Part => {
  if (!check) return undefined
  const { receipt, signature, current, now } = check
  const { passed, failed, skipped } = receipt.summary
  const groups = [...Map.groupBy(receipt.tests, test => test.title)]
  const age = html`<time datetime="${receipt.checked}">${describeAge(receipt.checked, now)}</time>`
  const signed = signature === undefined ? 'The receipt is not signed.' : 'The receipt has a signature of this host.'
  const content = html`<p>This host tested the agent ${age}: ${passed} passed, ${failed} failed, ${skipped} skipped.
${!current && 'The card has changed since.'}</p>
<ul class="capabilities">${groups.map(([title, tests]) => testItem(title, tests))}</ul>
<p>${signed} <a href="/agents/${id}/receipt">Open the receipt</a></p>`
  return section('tests', 'Tests', content)
}

/** Renders all tests with a title as one, with the reasons of those that failed. */
const testItem = (title: string, tests: readonly ReceiptTest[]): Html => {
  const failed = tests.filter(({ result }) => result === 'failed')
  if (failed.length > 0)
    return html`<li class="failed">${title}: ${failed.length} of ${tests.length} failed. ${failed[0]?.reason}</li>`
  return tests.some(({ result }) => result === 'passed')
    ? html`<li class="yes">${title}</li>`
    : html`<li class="no">${title} <span class="badge">skipped</span></li>`
}

/** Keys by which signatures are shown; a card can name one in each of its signatures. */
const MAX_SHOWN_SIGNERS = 10
const MAX_NAME_LENGTH = 200

const signerNames = { host: 'this host', author: 'its author (not verified here)' } as const

/** Returns in a few words who signed a card. */
export const signingWords = ({ signers }: CardSigning): string => {
  if (signers.length === 0) return 'The card is not signed.'
  const names = new Set(signers.flatMap(({ by }) => (by === 'invalid' ? [] : [signerNames[by]])))
  return names.size === 0 ? 'Its signature is not valid.' : `Signed by ${[...names].join(' and ')}.`
}

/** Renders who signed the card, with which keys, what that covers, and which SDKs accept it. */
export const signaturesSection = ({ signing, cardUrl }: Pick<CardFacts, 'signing' | 'cardUrl'>): Part => {
  const { signers, verdicts } = signing
  if (signers.length === 0) return undefined
  const rest = signers.length - MAX_SHOWN_SIGNERS
  const unverified = html`<p class="muted">This page does not verify the signatures of the author: it knows no key
that it could trust for them.</p>`
  const verdictItems = verdicts?.map(({ sdk, accepted, reason = '' }) =>
    accepted
      ? html`<li class="yes">${sdk}: accepts the card.</li>`
      : html`<li class="no">${sdk}: does not accept the card. It ${inline(headline(reason, MAX_NAME_LENGTH))}.</li>`,
  )
  const verifiers = html`<h3 id="verifiers">Which verifiers accept them</h3>
<p>With the <a href="/.well-known/jwks.json">keys of this host</a>:</p>
<ul class="capabilities" aria-labelledby="verifiers">${verdictItems}</ul>`
  const body = JSON.stringify({ url: cardUrl })
  const command = `curl ${new URL('/verify', cardUrl).href} -H 'Content-Type: application/json' -d '${body}'`
  const content = html`<ul class="endpoints">${signers.slice(0, MAX_SHOWN_SIGNERS).map(signerItem)}</ul>
${rest > 0 && html`<p>And ${rest} more.</p>`}
${signers.some(({ by }) => by === 'author') && unverified}
${verdictItems && verifiers}
<h3>Verify them</h3>
<p>This host, and any other Calling Card host, verifies the card at an address:</p>
<p class="copied"><code id="verify" dir="ltr">${command}</code><button type="button" class="copy" data-copies="verify"
aria-label="Copy the command that verifies the card">Copy</button></p>`
  return section('signatures', 'Signatures', content)
}

/** The description of a signature, before the name of its key. */
const signerWords = {
  host: 'Signed by this host with',
  author: 'A signature of its author names',
  invalid: 'Not a valid signature of this host, although it names',
} as const

const signerItem = ({ by, kid, alg, jku, documents, covers, reasons }: Signer): Html => {
  const key = kid === undefined ? 'a key without a name' : html`the key ${code(headline(kid, MAX_NAME_LENGTH))}`
  const algorithm = alg !== undefined && html` (${inline(headline(alg, 40))})`
  const from = jku !== undefined && html` from ${webLink(jku, headline(jku, MAX_NAME_LENGTH))}`
  const labels = documents.map(name => html`${representationLabels[name]}`)
  const rules = covers.map(([phrase, rules]) => html`<li>${phrase} (${rules.join(', ')})</li>`)
  const why = by !== 'author' && reasons.length > 0 && inline(headline(reasons.join('; '), MAX_NAME_LENGTH))
  return html`<li class="panel"><p>${signerWords[by]} ${key}${algorithm}${from}.</p>
<dl class="facts"><dt>In</dt><dd>${sentenceList(labels, 'and')}</dd>
${rules.length > 0 && html`<dt>Covers</dt><dd><ul class="plain">${rules}</ul></dd>`}
${why && html`<dt>Why</dt><dd>It ${why}.</dd>`}</dl></li>`
}

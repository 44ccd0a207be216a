import { html } from 'hono/html'
import type { FoundAgent } from '../../api/agents/index.ts'
import { renderMonogram } from '../images/index.ts'
import type { Html } from '../layout/index.ts'
import { shorten } from '../text/index.ts'

/** Tags that an agent shows in the list; its page has all of them. */
const MAX_TAGS = 6

/** Characters of a description, of which the style sheet shows a few lines. */
const MAX_DESCRIPTION_LENGTH = 400

const badges = [
  ['streaming', 'Streaming'],
  ['pushNotifications', 'Push notifications'],
  ['extendedAgentCard', 'Extended card'],
] as const

/** Returns agents as a list. */
export const renderAgents = (agents: readonly FoundAgent[]): Html =>
  html`<ul class="agents">${agents.map(renderAgent)}</ul>`

const renderAgent = ({
  id,
  name,
  description,
  version,
  provider,
  tags,
  ...declared
}: FoundAgent): Html => html`<li class="panel agent">
<div class="icon">${renderMonogram({ id, name }, { size: 44 })}</div>
<div class="identity"><h2 dir="auto"><a href="/agents/${id}">${shorten(name, 120)}</a></h2>
<p class="muted byline" dir="auto">${shorten(version, 40)}${provider === undefined ? '' : ` · ${shorten(provider, 120)}`}</p></div>
<p class="description" dir="auto">${shorten(description, MAX_DESCRIPTION_LENGTH)}</p>
<ul class="tags" aria-label="Features and tags">${describe(declared).map(text => html`<li class="badge">${text}</li>`)}
${tags.slice(0, MAX_TAGS).map(tag => html`<li class="tag" dir="auto">${shorten(tag, 40)}</li>`)}</ul>
</li>`

const describe = ({
  capabilities,
  protocolVersions,
  signed,
}: Pick<FoundAgent, 'capabilities' | 'protocolVersions' | 'signed'>): string[] => [
  ...(protocolVersions.length > 0 ? [`A2A ${protocolVersions.slice(0, 4).join(', ')}`] : []),
  ...badges.flatMap(([capability, label]) => (capabilities.includes(capability) ? [label] : [])),
  ...(signed ? ['Signed'] : []),
]

import { cardUrl } from '../../card/model/index.ts'
import { shorten } from './entries.ts'
import type { CatalogPage } from './site.ts'

const MAX_LINE_LENGTH = 300

/** Returns the list of agents for language models (llmstxt.org): Markdown with a link to each card. */
export const renderLlmsText = ({ agents, origin, next }: CatalogPage): string => {
  const base = origin ?? ''
  const items = agents.map(agent => {
    const description = toLine(agent.description)
    return `- [${escapeText(toLine(agent.name))}](${cardUrl(agent)})${description && `: ${escapeText(description)}`}`
  })
  const sections = [
    `# ${origin === undefined ? 'Agents' : `Agents of ${new URL(origin).host}`}`,
    '> A2A agents and what they do. Each link is the Agent Card of an agent: its skills, its address, and how to call it.',
    ...(items.length > 0 ? [`## Agents\n\n${items.join('\n')}`] : []),
    [
      '## Optional\n',
      ...(next === undefined ? [] : [`- [More agents](${base}${next}): the next page of this list`]),
      `- [All agents](${base}/agents): as JSON, with search`,
      `- [AI Catalog](${base}/.well-known/ai-catalog.json): the same agents for programs`,
    ].join('\n'),
  ]
  return `${sections.join('\n\n')}\n`
}

/** Returns the rules for crawlers (RFC 9309), with the addresses of the ARD manifest and of the sitemap, which must be absolute. */
export const renderRobotsText = ({ origin = '' }: CatalogPage): string =>
  `User-agent: *\nAllow: /\n\nAgentmap: ${origin}/.well-known/ard.json\n${origin === '' ? '' : `Sitemap: ${origin}/sitemap.xml\n`}`

/** Puts a text of a card into one short line, without characters that show nothing or change its direction. */
const toLine = (text: string): string => {
  const start = text.slice(0, 2 * MAX_LINE_LENGTH)
  return shorten(start.replace(/[\p{C}\p{Z}]+/gu, ' ').trim(), MAX_LINE_LENGTH)
}

/** Escapes what Markdown or HTML would take for a link, an image, code or a tag. */
const escapeText = (text: string): string => text.replace(/[\\`*_[\]<>]/g, '\\$&')

import { html, raw } from 'hono/html'
import type { Json } from '../../json/index.ts'
import type { Html } from '../layout/index.ts'
import { escapeCharacter, webUrl } from '../text/index.ts'
import type { CardFacts } from './card-facts.ts'
import { headline } from './markup.ts'

const MAX_TITLE_LENGTH = 100
const MAX_DESCRIPTION_LENGTH = 280

/** Returns the title of a card page. */
export const pageTitle = ({ card, id }: CardFacts): string => headline(card.name, MAX_TITLE_LENGTH) || id

/** Returns a card page in a sentence or two. */
export const pageDescription = ({ card }: CardFacts): string => headline(card.description, MAX_DESCRIPTION_LENGTH)

/**
 * Renders what others read of a card page: where its card is, and what previews and search engines show. The picture of
 * the agent is SVG, which most previews reject, so none is named.
 */
export const shareHead = (facts: CardFacts): Html => {
  const { id, origin, cardUrl } = facts
  const url = `${origin}/agents/${id}`
  const title = pageTitle(facts)
  const description = pageDescription(facts)
  return html`<link rel="canonical" href="${url}">
<link rel="alternate" type="application/json" href="${cardUrl}" title="Agent Card">
<meta property="og:type" content="website">
<meta property="og:site_name" content="Calling Card">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${url}">
<meta name="twitter:card" content="summary">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${description}">
<script type="application/ld+json">${jsonInScript(structuredData(facts, url))}</script>`
}

/** Describes an agent in the terms of schema.org. */
const structuredData = (facts: CardFacts, url: string): Json => {
  const { card, modified } = facts
  const { provider, documentationUrl } = card
  const help = webUrl(documentationUrl)
  const providerUrl = webUrl(provider?.url)
  const organization = provider?.organization !== undefined && {
    '@type': 'Organization',
    name: headline(provider.organization, MAX_TITLE_LENGTH),
    ...(providerUrl !== undefined && { url: providerUrl }),
  }
  return {
    '@context': 'https://schema.org',
    '@type': 'SoftwareApplication',
    name: pageTitle(facts),
    description: pageDescription(facts),
    applicationCategory: 'AI agent',
    softwareVersion: headline(card.version, MAX_TITLE_LENGTH),
    url,
    dateModified: modified.toISOString(),
    ...(help !== undefined && { softwareHelp: { '@type': 'CreativeWork', url: help } }),
    ...(organization && { provider: organization }),
  }
}

/** Writes JSON that ends no script element and begins no comment, whatever its strings are. */
const jsonInScript = (value: Json) => raw(JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escapeCharacter))

import { escapeCharacter, webUrl } from '../components/index.ts'
import { headline } from './bound-card.ts'
import type { CardFacts } from './card-facts.ts'

export const MAX_TITLE_LENGTH = 100
export const MAX_DESCRIPTION_LENGTH = 280

type HeadProps = { facts: CardFacts; title: string; description: string }

/** What previews and search engines read. It names no picture: that of the agent is SVG, which most reject. */
export const Head = (props: HeadProps) => {
  const { id, origin, cardUrl } = props.facts
  const url = `${origin}/agents/${id}`
  // It ends no script element and begins no comment, whatever its strings are.
  const data = JSON.stringify(structuredData(props, url)).replace(/[<>&\u2028\u2029]/g, escapeCharacter)
  return (
    <>
      <link rel="canonical" href={url} />
      <link rel="alternate" type="application/json" href={cardUrl} title="Agent Card" />
      <meta property="og:url" content={url} />
      <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: data }} />
    </>
  )
}

/** Describes an agent in the terms of schema.org. */
const structuredData = ({ facts: { card, modified }, title, description }: HeadProps, url: string): object => {
  const { provider, documentationUrl } = card
  const help = webUrl(documentationUrl)
  const organization = provider?.organization !== undefined && {
    '@type': 'Organization',
    name: headline(provider.organization, MAX_TITLE_LENGTH),
    url: webUrl(provider.url),
  }
  return {
    '@context': 'https://schema.org',
    '@type': 'SoftwareApplication',
    name: title,
    description,
    applicationCategory: 'AI agent',
    softwareVersion: headline(card.version, MAX_TITLE_LENGTH),
    url,
    dateModified: modified.toISOString(),
    softwareHelp: help && { '@type': 'CreativeWork', url: help },
    provider: organization || undefined,
  }
}

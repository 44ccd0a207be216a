import { html } from 'hono/html'
import type { AgentCard } from '../../card/model/agent-card.ts'
import { majorMinor } from '../../card/model/calls.ts'
import { FONTS, fitLine, lineWidth, toLine } from './text.ts'

const HEIGHT = 20
const FONT_SIZE = 11
const MARGIN = 7
/** In em: room for a dozen versions. */
const MAX_TEXT_WIDTH = 30

/** Renders the badge of an agent: the versions of A2A that its card declares. */
export const renderBadge = ({ supportedInterfaces }: Pick<AgentCard, 'supportedInterfaces'>) => {
  const versions = fitLine(toLine(declaredVersions(supportedInterfaces).join(', ')) || 'none', MAX_TEXT_WIDTH)
  const [labelWidth, valueWidth] = [widthOf(LABEL), widthOf(versions)]
  const width = labelWidth + valueWidth
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" role="img"><title>${LABEL}: ${versions}</title><desc>Versions of the Agent2Agent protocol that this agent supports</desc><clipPath id="badge"><rect width="${width}" height="${HEIGHT}" rx="4"/></clipPath><g clip-path="url(#badge)"><path fill="${BADGE_COLORS.label}" d="M0 0h${labelWidth}v${HEIGHT}H0z"/><path fill="${BADGE_COLORS.value}" d="M${labelWidth} 0h${valueWidth}v${HEIGHT}H${labelWidth}z"/></g><g fill="${BADGE_COLORS.text}" font-family="${FONTS}" font-size="${FONT_SIZE}" font-weight="600" text-anchor="middle"><text x="${labelWidth / 2}" y="14">${LABEL}</text><text x="${labelWidth + valueWidth / 2}" y="14">${versions}</text></g></svg>`
}

const LABEL = 'A2A'

/** The colors of badges. Text has a contrast of at least 4.5 on both (WCAG 2.2, 1.4.3). */
export const BADGE_COLORS = { label: '#40474f', value: '#0b7a74', text: '#fff' } as const

const widthOf = (text: string): number => Math.ceil(lineWidth(text) * FONT_SIZE) + 2 * MARGIN

/** Returns each version of A2A that a card declares once, the newest first; then texts that are no versions. */
export const declaredVersions = (interfaces: AgentCard['supportedInterfaces']): string[] => {
  const versions = interfaces.flatMap(({ protocolBinding, protocolVersion }) =>
    // An interface of MCP has a version of MCP.
    protocolBinding.toUpperCase() === 'MCP' ? [] : majorMinor(protocolVersion),
  )
  return [...new Set(versions)].toSorted((one, other) => toNumber(other) - toNumber(one))
}

const toNumber = (version: string): number => {
  const [, major, minor] = /^(\d{1,6})\.(\d{1,6})$/.exec(version) ?? []
  return minor === undefined ? -1 : Number(major) * 1_000_000 + Number(minor)
}

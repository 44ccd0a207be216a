import { html } from 'hono/html'
import { type AgentCard, describeAge, majorMinor, type Receipt } from '../../card/model/index.ts'
import { FONTS, fitLine, lineWidth, toLine } from './text-layout.ts'

const HEIGHT = 20
const FONT_SIZE = 11
const MARGIN = 7
/** The room for a dozen versions, in em. */
const MAX_TEXT_WIDTH = 30

type Segment = { text: string; color: string }

/** Renders the badge of an agent: the versions of A2A that its card declares, and the result of a check, if given. */
export const renderBadge = ({ supportedInterfaces }: Pick<AgentCard, 'supportedInterfaces'>, checked?: Segment) => {
  const versions = fitLine(toLine(declaredVersions(supportedInterfaces).join(', ')) || 'none', MAX_TEXT_WIDTH)
  const segments: Segment[] = [
    { text: LABEL, color: BADGE_COLORS.label },
    { text: versions, color: BADGE_COLORS.value },
    ...(checked ? [checked] : []),
  ]
  let width = 0
  const drawn = segments.map(({ text, color }) => {
    const [start, size] = [width, Math.ceil(lineWidth(text) * FONT_SIZE) + 2 * MARGIN]
    width += size
    return {
      path: html`<path fill="${color}" d="M${start} 0h${size}v${HEIGHT}H${start}z"/>`,
      text: html`<text x="${start + size / 2}" y="14">${text}</text>`,
    }
  })
  const title = checked ? `${versions}; ${checked.text}` : versions
  const tests = checked && ', and the tests that it passed'
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}"
viewBox="0 0 ${width} ${HEIGHT}" role="img"><title>${LABEL}: ${title}</title>
<desc>Versions of the Agent2Agent protocol that this agent supports${tests}</desc>
<clipPath id="badge"><rect width="${width}" height="${HEIGHT}" rx="4"/></clipPath>
<g clip-path="url(#badge)">${drawn.map(({ path }) => path)}</g><g
fill="${BADGE_COLORS.text}" font-family="${FONTS}" font-size="${FONT_SIZE}" font-weight="600"
text-anchor="middle">${drawn.map(({ text }) => text)}</g></svg>`
}

const LABEL = 'A2A'

/** The colors of badges. Text has a contrast of at least 4.5 on all of them (WCAG 2.2, 1.4.3). */
export const BADGE_COLORS = {
  label: '#40474f',
  value: '#0b7a74',
  text: '#fff',
  passed: '#2b6e2f',
  failed: '#b3261e',
  unchecked: '#5b636b',
} as const

/** Returns the part of a badge with the result of a check, and its age; or that `etag` is of a newer card. */
export const checkedSegment = (receipt: Receipt | undefined, etag: string | undefined, now: number): Segment => {
  if (receipt === undefined) return { text: 'not tested', color: BADGE_COLORS.unchecked }
  const { passed, failed } = receipt.summary
  const summary = failed === 0 ? `${passed} passed` : `${passed} passed, ${failed} failed`
  if (receipt.card.etag !== etag) return { text: `${summary}, older card`, color: BADGE_COLORS.unchecked }
  const color = failed === 0 ? BADGE_COLORS.passed : BADGE_COLORS.failed
  return { text: `${summary} ${describeAge(receipt.checked, now)}`, color }
}

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

import { type AgentCard, describeAge, majorMinor, type Receipt } from '../../card/model/index.ts'
import { FONTS, fitLine, lineWidth, toLine } from './text-layout.ts'

const FONT_SIZE = 11
/** The room for a dozen versions, in em. */
const MAX_TEXT_WIDTH = 30

type Segment = { text: string; color: string }

/** Renders the badge of an agent: the versions of A2A that its card declares, and the result of a check, if given. */
export const renderBadge = ({ supportedInterfaces }: Pick<AgentCard, 'supportedInterfaces'>, checked?: Segment) => {
  const versions = fitLine(toLine(declaredVersions(supportedInterfaces).join(', ')) || 'none', MAX_TEXT_WIDTH)
  const results = [{ text: versions, color: BADGE_COLORS.value }, ...(checked ? [checked] : [])]
  let width = 0
  const segments = [{ text: 'A2A', color: BADGE_COLORS.label }, ...results].map(({ text, color }) => {
    const [x, size] = [width, Math.ceil(lineWidth(text) * FONT_SIZE) + 14]
    width += size
    return (
      <svg x={x} width={size} height="20">
        <path fill={color} d={`M0 0h${size}v20H0z`} />
        <text x={size / 2} y="14">
          {text}
        </text>
      </svg>
    )
  })
  const font = { 'font-family': FONTS, 'font-size': FONT_SIZE, 'font-weight': 600, 'text-anchor': 'middle' }
  return (
    <svg xmlns="http://www.w3.org/2000/svg" width={width} height="20" viewBox={`0 0 ${width} 20`} role="img">
      <title>A2A: {results.map(({ text }) => text).join('; ')}</title>
      <desc>
        Versions of the Agent2Agent protocol that this agent supports{checked && ', and the tests that it passed'}
      </desc>
      <clipPath id="badge">
        <rect width={width} height="20" rx="4" />
      </clipPath>
      <g clip-path="url(#badge)" fill={BADGE_COLORS.text} {...font}>
        {segments}
      </g>
    </svg>
  )
}

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
  const [major = Number.NaN, minor = Number.NaN] = version.split('.').map(Number)
  return Number.isNaN(major + minor) ? -1 : major * 1_000_000 + minor
}

import { FONTS, graphemes, lineWidth, toLine } from './text-layout.ts'

type Subject = { id: string; name: string }

/** White text has a contrast of at least 4.5 on each (WCAG 2.2, 1.4.3). */
export const MONOGRAM_COLORS = [
  ...['#b42318', '#a8420c', '#8a5a00', '#5b6d00', '#2c7317', '#0b7453'],
  ...['#0a6f80', '#1a67a8', '#2f5bd0', '#5b4bd1', '#7d3fc4', '#a3349f', '#b82d6b'],
] as const

/** Returns the monogram of an agent: one or two characters of its name, and a color that only depends on its id. */
export const monogramOf = ({ id, name }: Subject) => ({
  // Some letters are too wide to draw.
  initials: [toLine(name), id].map(initialsOf).find(each => each !== '' && lineWidth(each) <= 2.1) ?? '',
  color: MONOGRAM_COLORS[hash(id) % MONOGRAM_COLORS.length],
})

/** Only letters with upper and lower case make two initials: letters of other scripts may join, or be words. */
const initialsOf = (name: string): string => {
  const characters = name.split(/[\s_-]+/u).map(graphemes)
  const initials = characters.flatMap(word => word.find(each => /^[\p{L}\p{Nd}]/u.test(each)) ?? [])
  const [first = characters.flat()[0] ?? '', ...others] = initials
  const second = hasCase(first) ? others.find(hasCase) : undefined
  return `${first}${second ?? ''}`.toUpperCase()
}

const hasCase = (letter: string): boolean => /^\p{LC}/u.test(letter)

/** Returns the FNV-1a hash of 32 bits. */
const hash = (id: string): number =>
  Array.from(id).reduce((value, each) => Math.imul(value ^ (each.codePointAt(0) ?? 0), 0x01000193), 0x811c9dc5) >>> 0

/** The monogram of an agent as SVG. The agent's name is beside it, so it has no label. */
export const Monogram = ({ id, name, size, ...position }: Subject & { size: number; x?: number; y?: number }) => {
  const { initials, color } = monogramOf({ id, name })
  const [fontSize, y] = graphemes(initials).length > 1 ? [25, 41] : [30, 43]
  return (
    <svg {...position} width={size} height={size} viewBox="0 0 64 64" aria-hidden="true" font-family={FONTS}>
      <rect width="64" height="64" rx="15" fill={color} />
      <text x="32" y={y} font-size={fontSize} font-weight="600" fill="#fff" text-anchor="middle">
        {initials}
      </text>
    </svg>
  )
}

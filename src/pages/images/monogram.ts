import { html } from 'hono/html'
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
  color: MONOGRAM_COLORS[hash(id) % MONOGRAM_COLORS.length] ?? MONOGRAM_COLORS[0],
})

/** Only letters with upper and lower case make two initials: letters of other scripts may join, or be words. */
const initialsOf = (name: string): string => {
  const words = name.split(/[\s_-]+/u)
  const initials = words.flatMap(word => graphemes(word).find(grapheme => /^[\p{L}\p{Nd}]/u.test(grapheme)) ?? [])
  const [first = graphemes(name)[0] ?? '', ...others] = initials
  const second = others.find(hasCase)
  return (hasCase(first) && second ? [first, second] : [first]).map(toCapital).join('')
}

const hasCase = (letter: string): boolean => /^(?:\p{Lu}|\p{Ll}|\p{Lt})/u.test(letter)

/** Letters whose capital is two stay as they are, such as ß. */
const toCapital = (letter: string): string => {
  const capital = letter.toUpperCase()
  return graphemes(capital).length === 1 ? capital : letter
}

/** Returns the FNV-1a hash of 32 bits. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return value >>> 0
}

/** Renders the monogram of an agent as SVG. The agent's name is beside it, so it has no label. */
export const renderMonogram = (agent: Subject, { size, x = 0, y = 0 }: { size: number; x?: number; y?: number }) => {
  const { initials, color } = monogramOf(agent)
  const fontSize = graphemes(initials).length > 1 ? 25 : 30
  return html`<svg xmlns="http://www.w3.org/2000/svg" x="${x}" y="${y}" width="${size}" height="${size}"
viewBox="0 0 64 64" aria-hidden="true" font-family="${FONTS}"><rect width="64" height="64" rx="15"
fill="${color}"/><text x="32" y="${32 + Math.round(fontSize * 0.36)}" font-size="${fontSize}" font-weight="600"
fill="#fff" text-anchor="middle">${initials}</text></svg>`
}

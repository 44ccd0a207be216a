import { html } from 'hono/html'
import encodeQR from 'qr'
import type { AgentCard } from '../../card/model/index.ts'
import { declaredVersions } from './badge.ts'
import { renderMonogram } from './monogram.ts'
import { FONTS, firstSentence, fitLine, isRightToLeft, lineWidth, toLine, wrapLine } from './text-layout.ts'

/** The content of a business card. `url` is the page that its QR code opens. */
export type BusinessCard = { id: string; card: AgentCard; url: string }

const WIDTH = 640
const HEIGHT = 320
const MARGIN = 28
const INNER_WIDTH = WIDTH - 2 * MARGIN
const QR_SIZE = 152
const COLUMN_WIDTH = INNER_WIDTH - QR_SIZE - 24
const MONOGRAM_SIZE = 64
const CHIPS_TOP = 196
const FOOTER_TOP = 272

/** The colors of the pages, light and dark, by class. Text has a contrast of at least 4.5 (WCAG 2.2, 1.4.3). */
export const CARD_COLORS = {
  surface: ['#ffffff', '#1d2024'],
  line: ['#dcd8ce', '#363b42'],
  text: ['#1c1e21', '#eceae4'],
  muted: ['#585d64', '#a9aeb5'],
  chip: ['#f1efe9', '#2b3036'],
  accent: ['#0b5c58', '#6cd3c8'],
} as const

/** The colors of dark mode. Those of light mode are attributes, for readers without style sheets. */
export const CARD_STYLE = `@media(prefers-color-scheme:dark){${Object.entries(CARD_COLORS)
  .map(([name, [, dark]]) => `.${name}{fill:${dark}}`)
  .join('')}}`

const fill = (name: keyof typeof CARD_COLORS) => html`class="${name}" fill="${CARD_COLORS[name][0]}"`

/** Renders the business card of an agent. A card whose name is written from right to left is mirrored. */
export const renderBusinessCard = ({ id, card, url }: BusinessCard) => {
  const name = toLine(card.name) || id
  const layout = createLayout(isRightToLeft(name))
  const organization = toLine(card.provider?.organization ?? '')
  const tagline = firstSentence(card.description)
  const names = card.skills.slice(0, MAX_CHIPS).map(skill => toLine(skill.name) || toLine(skill.id))
  const skills = { names, total: card.skills.length }
  const described = names.slice(0, MAX_DESCRIBED_SKILLS).map(skill => fitLine(skill, MAX_LABEL_WIDTH / 2))
  const more = skills.total > described.length ? ` and ${skills.total - described.length} more` : ''
  const about = `${fitLine(tagline, 2 * MAX_LABEL_WIDTH)} Skills: ${described.join(', ')}${more}. QR code: ${url}`
  const monogram = { size: MONOGRAM_SIZE, x: layout.place(MARGIN, MONOGRAM_SIZE), y: MARGIN }
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}"
viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-family="${FONTS}"><title>${fitLine(name, MAX_LABEL_WIDTH)}</title>
<desc>${about}</desc><style>${CARD_STYLE}</style>
<rect width="${WIDTH}" height="${HEIGHT}" rx="16" ${fill('line')}/>
<rect x="1" y="1" width="${WIDTH - 2}" height="${HEIGHT - 2}" rx="15" ${fill('surface')}/>
${renderMonogram({ id, name }, monogram)}
${renderHeader(name, organization, tagline, layout)}
${renderQrCode(url, layout.place(WIDTH - MARGIN - QR_SIZE, QR_SIZE))}
${renderSkills(skills, layout)}
${renderFooter(url, card, layout)}</svg>`
}

/** Characters of the text that screen readers get, in em as all widths. */
const MAX_LABEL_WIDTH = 100
const MAX_DESCRIBED_SKILLS = 10

type Layout = ReturnType<typeof createLayout>

/** Where things are on a card: `place` returns the left edge of what begins at `x` if the card is not mirrored. */
const createLayout = (isMirrored: boolean) => ({
  isMirrored,
  place: (x: number, width: number): number => (isMirrored ? WIDTH - x - width : x),
})

/** Lines of one text in a box, which hides what a font draws outside it. `baseline` is that of the first line. */
type TextBlock = Record<'x' | 'y' | 'width' | 'height' | 'baseline' | 'lineHeight' | 'fontSize', number> & {
  color: keyof typeof CARD_COLORS
  weight?: number
  /** By default that of the text. */
  direction?: 'ltr'
  /** The side to which the lines are aligned: by default the one where the card begins. */
  side?: 'start' | 'end'
}

const renderText = (lines: readonly string[], block: TextBlock, { isMirrored, place }: Layout) => {
  const { x, y, width, height, baseline, lineHeight, fontSize, color, weight = 400 } = block
  const direction = block.direction ?? (isRightToLeft(lines.join(' ')) ? 'rtl' : 'ltr')
  const isAtRight = isMirrored === (block.side !== 'end')
  const anchor = (direction === 'rtl') === isAtRight ? 'start' : 'end'
  const texts = lines.map(
    (line, index) => html`<text x="${isAtRight ? width : 0}" y="${baseline + index * lineHeight}">${line}</text>`,
  )
  return html`<svg x="${place(x, width)}" y="${y}" width="${width}" height="${height}" direction="${direction}"
text-anchor="${anchor}" font-size="${fontSize}" font-weight="${weight}" ${fill(color)}>${texts}</svg>`
}

const NAME = { fontSize: 24, weight: 600, lineHeight: 29, baseline: 26, color: 'text' } as const
const ORGANIZATION = { fontSize: 14, height: 24, lineHeight: 21, baseline: 15, color: 'muted' } as const
const TAGLINE = { fontSize: 15, height: 82, lineHeight: 21, baseline: 28, color: 'text' } as const

const renderHeader = (name: string, organization: string, tagline: string, layout: Layout) => {
  const x = MARGIN + MONOGRAM_SIZE + 16
  const width = COLUMN_WIDTH - MONOGRAM_SIZE - 16
  const nameLines = wrapLine(name, width / NAME.fontSize, 2)
  const nameHeight = nameLines.length * NAME.lineHeight
  const height = nameHeight + (organization ? ORGANIZATION.lineHeight : 0)
  const top = MARGIN + Math.max(0, (MONOGRAM_SIZE - height) / 2)
  const bottom = Math.max(MARGIN + MONOGRAM_SIZE, top + height)
  const organizationLine = fitLine(organization, width / ORGANIZATION.fontSize)
  const taglineLines = wrapLine(tagline, COLUMN_WIDTH / TAGLINE.fontSize, 3)
  return [
    renderText(nameLines, { ...NAME, x, y: top - 4, width, height: nameHeight + 8 }, layout),
    organization && renderText([organizationLine], { ...ORGANIZATION, x, y: top + nameHeight, width }, layout),
    renderText(taglineLines, { ...TAGLINE, x: MARGIN, y: bottom, width: COLUMN_WIDTH }, layout),
  ]
}

/** Longer URLs get the lowest level of error correction: on a screen, large modules matter more. */
const MAX_CORRECTED_LENGTH = 100

/** Renders a URL as a QR code, dark on white with the margin of ISO/IEC 18004: not all readers know inverted codes. */
const renderQrCode = (url: string, x: number) => {
  const ecc = url.length > MAX_CORRECTED_LENGTH ? 'low' : 'medium'
  const rows = encodeQR(url, 'raw', { ecc, border: 4 })
  const size = rows.length
  return html`<svg x="${x}" y="${MARGIN}" width="${QR_SIZE}" height="${QR_SIZE}" viewBox="0 0 ${size} ${size}">
<rect width="${size}" height="${size}" rx="2.5" fill="#fff"/>
<path shape-rendering="crispEdges" d="${toPath(rows)}"/></svg>`
}

/** Draws each run of dark modules in a row as one rectangle. */
const toPath = (rows: readonly (readonly boolean[])[]): string =>
  rows
    .flatMap((row, y) =>
      row.flatMap((isDark, x) => {
        if (!isDark || row[x - 1]) return []
        const end = row.indexOf(false, x)
        const length = (end === -1 ? row.length : end) - x
        return `M${x} ${y}h${length}v1h-${length}z`
      }),
    )
    .join('')

const CHIP = { fontSize: 13, height: 26, padding: 12, gap: 8, rows: 2, maxWidth: 280 } as const
/** More than fit, however short their names are. */
const MAX_CHIPS = 40

type Skills = { names: readonly string[]; total: number }

const renderSkills = (skills: Skills, { place }: Layout) => {
  const chips = arrangeChips(skills)
  const isOneRow = chips.at(-1)?.row === 0
  const top = CHIPS_TOP + (isOneRow ? (CHIP.height + CHIP.gap) / 2 : 0)
  return chips.map(({ label, x, row, width }) => {
    const y = top + row * (CHIP.height + CHIP.gap)
    const direction = isRightToLeft(label) ? 'rtl' : 'ltr'
    return html`<g text-anchor="middle" font-size="${CHIP.fontSize}" direction="${direction}">
<svg x="${place(MARGIN + x, width)}" y="${y}" width="${width}" height="${CHIP.height}">
<rect width="${width}" height="${CHIP.height}" rx="${CHIP.height / 2}" ${fill('chip')}/>
<text x="${width / 2}" y="17.5" ${fill('text')}>${label}</text></svg></g>`
  })
}

type Chip = { label: string; x: number; row: number; width: number }

/** Arranges skills in rows. The last chip counts those that do not fit. */
export const arrangeChips = ({ names, total }: Skills): Chip[] => {
  const chips: Chip[] = []
  for (const name of names) {
    const chip = nextChip(name, chips.at(-1))
    if (chip === undefined) break
    chips.push(chip)
  }
  while (chips.length < total) {
    const more = nextChip(`+${total - chips.length}`, chips.at(-1))
    if (more) return [...chips, more]
    chips.pop()
  }
  return chips
}

/** Returns the chip after another one; undefined if the rows are full. */
const nextChip = (text: string, last: Chip | undefined): Chip | undefined => {
  const label = fitLine(text, (CHIP.maxWidth - 2 * CHIP.padding) / CHIP.fontSize)
  const width = Math.ceil(lineWidth(label) * CHIP.fontSize) + 2 * CHIP.padding
  const [x, row] = last ? [last.x + last.width + CHIP.gap, last.row] : [0, 0]
  if (x + width <= INNER_WIDTH) return { label, x, row, width }
  return row + 1 < CHIP.rows ? { label, x: 0, row: row + 1, width } : undefined
}

const FOOTER = { y: FOOTER_TOP, height: 36, fontSize: 13, lineHeight: 20, baseline: 27, direction: 'ltr' } as const
const MAX_VERSIONS_WIDTH = 16

const renderFooter = (url: string, { supportedInterfaces }: AgentCard, layout: Layout) => {
  const versions = fitLine(toLine(declaredVersions(supportedInterfaces).join(', ')), MAX_VERSIONS_WIDTH)
  const label = versions && `A2A ${versions}`
  const labelWidth = Math.ceil(lineWidth(label) * FOOTER.fontSize)
  const width = INNER_WIDTH - labelWidth - 16
  const address = fitLine(url.replace(/^https?:\/\//, ''), width / FOOTER.fontSize)
  const start = { ...FOOTER, x: MARGIN, width, color: 'muted' } as const
  const end = { ...FOOTER, x: WIDTH - MARGIN - labelWidth, width: labelWidth, color: 'accent' } as const
  return html`<rect x="${MARGIN}" y="${FOOTER_TOP}" width="${INNER_WIDTH}" height="1" ${fill('line')}/>
${renderText([address], start, layout)}${renderText([label], { ...end, weight: 600, side: 'end' }, layout)}`
}

import encodeQR from 'qr'
import type { AgentCard } from '../../card/model/index.ts'
import { shorten } from '../components/index.ts'
import { declaredVersions } from './badge.tsx'
import { Monogram } from './monogram.tsx'
import { FONTS, firstSentence, fitLine, isRightToLeft, lineWidth, toLine, wrapLine } from './text-layout.ts'

/** The content of a business card. `url` is the page that its QR code opens. */
export type BusinessCard = { id: string; card: AgentCard; url: string }

const WIDTH = 640
const HEIGHT = 320
const MARGIN = 28
const QR_SIZE = 152
const MONOGRAM_SIZE = 64
const INNER_WIDTH = WIDTH - 2 * MARGIN
const COLUMN_WIDTH = INNER_WIDTH - QR_SIZE - 24
const NAME_WIDTH = COLUMN_WIDTH - MONOGRAM_SIZE - 16

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

type Color = keyof typeof CARD_COLORS

const paint = (name: Color) => ({ class: name, fill: CARD_COLORS[name][0] })

/** Renders the business card of an agent. A card whose name is written from right to left is mirrored. */
export const renderBusinessCard = ({ id, card, url }: BusinessCard) => {
  const name = toLine(card.name) || id
  const [start, end] = isRightToLeft(name) ? (['right', 'left'] as const) : (['left', 'right'] as const)
  const place = (x: number, width: number) => ({ x: start === 'left' ? x : WIDTH - x - width, width, side: start })
  const organization = toLine(card.provider?.organization ?? '')
  const tagline = firstSentence(card.description)
  const names = card.skills.slice(0, MAX_CHIPS).map(skill => toLine(skill.name) || toLine(skill.id))
  const about = shorten(`${tagline} Skills: ${names.join(', ')}.`, 500)
  const chips = arrangeChips({ names, total: card.skills.length })
  const chipsTop = chips.at(-1)?.row === 0 ? 213 : 196
  const versions = fitLine(toLine(declaredVersions(card.supportedInterfaces).join(', ')), 16)
  const label = versions && `A2A ${versions}`
  const labelWidth = Math.ceil(lineWidth(label) * 13) + 16
  const address = url.replace(/^https?:\/\//, '')
  const nameHeight = wrapLine(name, NAME_WIDTH / 24, 2).length * lineHeight(24)
  const height = nameHeight + (organization ? lineHeight(14) : 0)
  const top = MARGIN - 4 + Math.max(0, (MONOGRAM_SIZE - height) / 2)
  const taglineTop = Math.max(MARGIN + MONOGRAM_SIZE, top + height) + 11
  const beside = place(MARGIN + MONOGRAM_SIZE + 16, NAME_WIDTH)
  const last = { ...place(WIDTH - MARGIN - labelWidth, labelWidth), side: end }
  const size = { width: WIDTH, height: HEIGHT }
  return (
    <svg xmlns="http://www.w3.org/2000/svg" {...size} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" font-family={FONTS}>
      <title>{shorten(name, 150)}</title>
      <desc>{`${about} QR code: ${url}`}</desc>
      <style>{CARD_STYLE}</style>
      <rect {...size} rx="16" {...paint('line')} />
      <rect x="1" y="1" width={WIDTH - 2} height={HEIGHT - 2} rx="15" {...paint('surface')} />
      <Monogram id={id} name={name} x={place(MARGIN, MONOGRAM_SIZE).x} y={MARGIN} size={MONOGRAM_SIZE} />
      <Text text={name} size={24} maxLines={2} y={top} font-weight={600} {...beside} />
      <Text text={organization} size={14} y={top + nameHeight} color="muted" {...beside} />
      <Text text={tagline} size={15} maxLines={3} y={taglineTop} {...place(MARGIN, COLUMN_WIDTH)} />
      <QrCode url={url} x={place(WIDTH - MARGIN - QR_SIZE, QR_SIZE).x} />
      {chips.map(({ label, x, row, width }) => (
        <svg x={place(MARGIN + x, width).x} y={chipsTop + row * 34}>
          <rect width={width} height="26" rx="13" {...paint('chip')} />
          <Text text={label} size={13} x={0} y={2.5} width={width} side="middle" />
        </svg>
      ))}
      <rect x={MARGIN} y="272" width={INNER_WIDTH} height="1" {...paint('line')} />
      <Text text={address} size={13} y={284} color="muted" {...place(MARGIN, INNER_WIDTH - labelWidth)} />
      <Text text={label} size={13} y={284} color="accent" font-weight={600} {...last} />
    </svg>
  )
}

type Box = Record<'x' | 'y' | 'width' | 'size', number> & { side: 'left' | 'middle' | 'right'; 'font-weight'?: number }
type TextProps = Box & { text: string; maxLines?: number; color?: Color }

const lineHeight = (size: number): number => size + 6

/** A text at a side of a box, which hides what a font draws outside it. */
const Text = ({ text, maxLines = 1, color = 'text', size, side, ...box }: TextProps) => {
  const isRtl = isRightToLeft(text)
  const anchor = side === 'middle' ? side : isRtl === (side === 'right') ? 'start' : 'end'
  const x = { left: 0, middle: box.width / 2, right: box.width }[side]
  const attributes = { direction: isRtl ? 'rtl' : 'ltr', 'text-anchor': anchor, 'font-size': size, ...paint(color) }
  const lines = wrapLine(text, box.width / size, maxLines)
  return (
    <svg {...box} height={lines.length * lineHeight(size) + 8} {...attributes}>
      {lines.map((line, index) => (
        <text x={x} y={size + 2 + index * lineHeight(size)}>
          {line}
        </text>
      ))}
    </svg>
  )
}

/** A URL as a QR code, dark on white with the margin of ISO/IEC 18004: not all readers know inverted codes. */
const QrCode = ({ url, x }: { url: string; x: number }) => {
  // On a screen, large modules matter more than the correction of errors.
  const ecc = url.length > 100 ? 'low' : 'medium'
  const rows = encodeQR(url, 'raw', { ecc, border: 4 }).map(row => row.map(Number).join(''))
  const size = rows.length
  const runs = rows.flatMap((row, y) =>
    [...row.matchAll(/1+/g)].map(({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`),
  )
  return (
    <svg x={x} y={MARGIN} width={QR_SIZE} height={QR_SIZE} viewBox={`0 0 ${size} ${size}`}>
      <rect width={size} height={size} rx="2.5" fill="#fff" />
      <path shape-rendering="crispEdges" d={runs.join('')} />
    </svg>
  )
}

/** More than fit, however short their names are. */
const MAX_CHIPS = 40
const MAX_CHIP_WIDTH = 280
const CHIP_PADDING = 12

type Chip = { label: string; x: number; row: number; width: number }

/** Arranges skills in two rows. The last chip counts those that do not fit. */
export const arrangeChips = ({ names, total }: { names: readonly string[]; total: number }): Chip[] => {
  const chips: Chip[] = []
  for (const name of names) {
    const chip = nextChip(name, chips.at(-1))
    const others = total - chips.length - 1
    if (!chip || (others > 0 && !nextChip(`+${others}`, chip))) break
    chips.push(chip)
  }
  const more = chips.length < total && nextChip(`+${total - chips.length}`, chips.at(-1))
  return more ? [...chips, more] : chips
}

/** Returns the chip after another one; undefined if the rows are full. */
const nextChip = (text: string, last: Chip | undefined): Chip | undefined => {
  const label = fitLine(text, (MAX_CHIP_WIDTH - 2 * CHIP_PADDING) / 13)
  const width = Math.ceil(lineWidth(label) * 13) + 2 * CHIP_PADDING
  const { x, row } = last ? { x: last.x + last.width + 8, row: last.row } : { x: 0, row: 0 }
  if (x + width <= INNER_WIDTH) return { label, x, row, width }
  return row === 0 ? { label, x: 0, row: 1, width } : undefined
}

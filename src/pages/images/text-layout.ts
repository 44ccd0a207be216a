/** The fonts of pictures: those of the reader's system, since a picture loads nothing. */
export const FONTS = "-apple-system,BlinkMacSystemFont,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif"

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Returns the characters of a text as readers see them (UAX #29): with their marks, and an emoji as a whole. */
export const graphemes = (text: string): string[] => Array.from(segmenter.segment(text), ({ segment }) => segment)

const ELLIPSIS = '…'

/** Characters that are read of a text: many times what any picture shows, so that longer texts cost no more. */
const MAX_READ_LENGTH = 1024

/** Characters that no picture draws: controls, invisible ones except those that join others, and those that reorder. */
const joining = String.raw`\u061c\u180b-\u180f\u200c-\u200f\ufe00-\ufe0f\u{e0020}-\u{e007f}\u{e0100}-\u{e01ef}`
const undrawable = new RegExp(
  String.raw`[\p{Cc}\p{Noncharacter_Code_Point}[\p{Default_Ignorable_Code_Point}--[${joining}]]]`,
  'gv',
)

/** Longer than in any language. More marks would cover the lines around them. */
const markRuns = /(\p{M}{8})\p{M}+/gu

/** Returns a text as one line, without characters that XML forbids, that are invisible or that reorder others. */
export const toLine = (text: string): string => {
  const line = text
    .slice(0, MAX_READ_LENGTH)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed()
    .replace(/\s+/gu, ' ')
    .replace(undrawable, '')
    .replace(markRuns, '$1')
    .replace(/ {2,}/g, ' ')
    .trim()
  if (text.length <= MAX_READ_LENGTH || line === '') return line
  // The last character that was read may be a part of one.
  const { index = 0 } = segmenter.segment(line).containing(line.length - 1) ?? {}
  return `${line.slice(0, index).trimEnd()}${ELLIPSIS}`
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

/** Returns the first sentence of a text, or its first paragraph if that ends earlier. */
export const firstSentence = (text: string): string => {
  const start = text.slice(0, MAX_READ_LENGTH).trimStart()
  const [paragraph = ''] = start.split(/\n\s*\n/, 1)
  const line = toLine(paragraph)
  const [first] = sentences.segment(line)
  return first?.segment.trim() ?? line
}

const EMOJI_WIDTH = 1.4

/** Upper bounds of widths in em, for bold fonts of most systems; the first class that matches a character counts. */
const widthClasses: readonly (readonly [pattern: RegExp, width: number])[] = [
  [/^[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\p{Emoji_Modifier}]/u, 0],
  [/^[ !',.:;()[\]ijl-]/, 0.36],
  [/^["/\\_`{}Ifrt]/, 0.47],
  [/^[?*^Jcsz]/, 0.57],
  [/^[0-9$+<=>~|aevxy]/, 0.62],
  [/^[DGHNOQU&w]/, 0.86],
  [/^[mMW%@]/, 1],
  [/^[!-~]/, 0.7],
  [/^\p{Extended_Pictographic}/u, EMOJI_WIDTH],
  [/^[æœмшщжюыфњљωϖ\p{Script=Armenian}]/iu, 1.05],
  [/^[[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Georgian}]&&\p{Lu}]/v, 0.86],
  [/^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Georgian}]/u, 0.72],
  [/^\ufdfd/, 8],
  [/^[\ufd50-\ufdff\u{12000}-\u{1254f}\u2e3a\u2e3b]/u, 3],
  [/^[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}\p{Script=Lao}]/u, 0.68],
  [/^[\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Khmer}]/u, 0.8],
]
/** The width of ideographs, and of all that has no class. */
const FULL_WIDTH = 1.05

const graphemeWidth = (grapheme: string): number => {
  // An emoji of several is one picture.
  if (/^\p{RGI_Emoji}$/v.test(grapheme)) return EMOJI_WIDTH
  let width = 0
  for (const character of grapheme)
    width += widthClasses.find(([pattern]) => pattern.test(character))?.[1] ?? FULL_WIDTH
  return width
}

/** Returns an upper bound of the width of a line in em. */
export const lineWidth = (line: string): number =>
  graphemes(line).reduce((width, grapheme) => width + graphemeWidth(grapheme), 0)

const ideographic = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}]/u
/** Compares first, because most letters come before all of these, and the pattern is slow. */
const isIdeographic = (grapheme: string): boolean => grapheme > '\u2000' && ideographic.test(grapheme)
const closing = /^[\p{Pe}\p{Pf}\p{Po}ーァィゥェォッャュョぁぃぅぇぉっゃゅょ々]/u
const opening = /^[\p{Ps}\p{Pi}]/u

const withoutSpaces = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const words = new Intl.Segmenter('en', { granularity: 'word' })

/** Checks whether a line may end here: after spaces and hyphens, and between ideographs (a part of UAX #14). */
const isBreak = (before: string, after: string): boolean =>
  after !== ' ' &&
  (/^[ /-]$/.test(before) ||
    ((isIdeographic(before) || isIdeographic(after)) && !closing.test(after) && !opening.test(before)))

/** Breaks a line into at most `maxLines` lines of at most `maxWidth` em. A longer text ends with an ellipsis. */
export const wrapLine = (text: string, maxWidth: number, maxLines: number): string[] => {
  const lines: string[] = []
  let line: Placed[] = []
  let breakAt = 0
  let index = 0
  // Only a dictionary finds where words begin in a text of a script without spaces.
  const found = maxLines > 1 && withoutSpaces.test(text) ? [...words.segment(text)] : []
  const wordStarts = new Set(found.map(({ index }) => index))
  for (const grapheme of graphemes(text)) {
    const last = line.at(-1)
    const isWord = wordStarts.has(index) && withoutSpaces.test(grapheme)
    if (last && (isWord || isBreak(last.grapheme, grapheme))) breakAt = line.length
    index += grapheme.length
    if (last === undefined && grapheme === ' ') continue
    line.push({ grapheme, end: widthOf(line) + graphemeWidth(grapheme) })
    while (grapheme !== ' ' && widthOf(line) > maxWidth) {
      if (lines.length + 1 >= maxLines || line.length === 1) return [...lines, cut(line, maxWidth)]
      const at = breakAt || line.length - 1
      const start = line[at - 1]?.end ?? 0
      lines.push(join(line.slice(0, at)))
      line = line.slice(at).map(({ grapheme, end }) => ({ grapheme, end: end - start }))
      breakAt = 0
    }
  }
  return line.length > 0 ? [...lines, join(line)] : lines
}

/** A character of a line, and where it ends in em. */
type Placed = { grapheme: string; end: number }

const widthOf = (line: readonly Placed[]): number => line.at(-1)?.end ?? 0

const join = (line: readonly Placed[]): string => line.reduce((text, { grapheme }) => text + grapheme, '').trimEnd()

const cut = (line: readonly Placed[], maxWidth: number): string => {
  const fitting = line.filter(({ end }) => end + graphemeWidth(ELLIPSIS) <= maxWidth)
  const last = fitting.findLastIndex(({ grapheme }) => !/^[\s\p{Po}\p{Pd}]/u.test(grapheme))
  return `${join(fitting.slice(0, last + 1))}${ELLIPSIS}`
}

/** Returns a line of at most `maxWidth` em. */
export const fitLine = (text: string, maxWidth: number): string => wrapLine(text, maxWidth, 1).join('')

const rightToLeft = /^[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** Checks whether a text begins with a script that is written from right to left (UAX #9, P2 and P3). */
export const isRightToLeft = (text: string): boolean => {
  const [first = ''] = /[\p{L}\u061c\u200e\u200f]/u.exec(text) ?? []
  return rightToLeft.test(first)
}

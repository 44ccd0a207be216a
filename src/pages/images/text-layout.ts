/** The fonts of pictures: those of the reader's system, since a picture loads nothing. */
export const FONTS = "-apple-system,BlinkMacSystemFont,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif"

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' })
const words = new Intl.Segmenter('en', { granularity: 'word' })
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

/** Returns the characters of a text as readers see them (UAX #29): with their marks, and an emoji as a whole. */
export const graphemes = (text: string): string[] => Array.from(characters.segment(text), ({ segment }) => segment)

/** Characters that are read of a text: many times what any picture shows, so that longer texts cost no more. */
const MAX_READ_LENGTH = 1024

/** Characters that no picture draws: controls, and invisible ones except joiners, selectors and marks of direction. */
const undrawable =
  /[\p{Cc}\p{NChar}[\p{DI}--[\p{Variation_Selector}\p{Join_Control}\u061c\u180e\u200e\u200f\u{e0020}-\u{e007f}]]]/gv

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
  return `${line.slice(0, characters.segment(line).containing(line.length - 1)?.index).trimEnd()}…`
}

/** Returns the first sentence of a text, or its first paragraph if that ends earlier. */
export const firstSentence = (text: string): string => {
  const [paragraph = ''] = /\S[\s\S]*?(?=\n\s*\n|$)/.exec(text.slice(0, MAX_READ_LENGTH)) ?? []
  const [first] = sentences.segment(toLine(paragraph))
  return first?.segment.trim() ?? ''
}

/** Upper bounds of widths in em, for bold fonts of most systems; the first class that matches a character counts. */
const widthClasses: readonly (readonly [pattern: RegExp, width: number])[] = [
  [/^[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\p{Emoji_Modifier}]/u, 0],
  [/^[ !',.:;()[\]Iijl|-]/, 0.36],
  [/^["/\\_`{}frt]/, 0.47],
  [/^[0-9$+<=>?*^~Jacesvxyz]/, 0.62],
  [/^[MW%@mÆŒæœЖМФШЩЫЮЉЊжмфшщыюљњωϖ\p{Script=Armenian}]/u, 1.05],
  [/^[\p{Lu}&w\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Khmer}]/u, 0.86],
  [/^[\ufd50-\ufdff\u{12000}-\u{1254f}\u2e3a\u2e3b]/u, 8],
  [/^[!-~\p{Ll}\p{Script=Devanagari}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}\p{Script=Lao}]/u, 0.7],
  [/^\p{Extended_Pictographic}/u, 1.4],
]
/** The width of ideographs, and of all that has no class. */
const FULL_WIDTH = 1.05

/** Returns an upper bound of the width of a line in em. An emoji of several is one picture. */
export const lineWidth = (line: string): number => {
  const widths = Array.from(line.replace(/\p{RGI_Emoji}/gv, '☺'), widthOf)
  return widths.reduce((sum, width) => sum + width, 0)
}

const widthOf = (character: string): number =>
  widthClasses.find(([pattern]) => pattern.test(character))?.[1] ?? FULL_WIDTH

/** Returns how much of a text fits into a width. */
const fittingLength = (text: string, maxWidth: number): number => {
  let width = 0
  for (const { segment, index } of characters.segment(text)) {
    width += lineWidth(segment)
    if (width > maxWidth) return index
  }
  return text.length
}

/** The characters around the start of a word or mark before which a line may end (a part of UAX #14). */
const breaks = /. |[/-].|[^\p{Ps}\p{Pi}]\p{Lo}|\p{Lo}[\p{Ps}\p{Pi}]/u

/** Returns the last place, up to `end`, where a line may end. */
const lastBreak = (text: string, end: number): number => {
  let last = 0
  for (const { index } of words.segment(text)) {
    if (index > end) break
    if (breaks.test(text.slice(index - 1, index + 1))) last = index
  }
  return last
}

/** Breaks a line into at most `maxLines` lines of at most `maxWidth` em. A longer text ends with an ellipsis. */
export const wrapLine = (text: string, maxWidth: number, maxLines: number): string[] => {
  if (text === '') return []
  const length = fittingLength(text, maxWidth)
  if (length === text.length) return [text]
  if (length > 0 && maxLines > 1) {
    const end = lastBreak(text, length) || length
    return [text.slice(0, end).trimEnd(), ...wrapLine(text.slice(end).trimStart(), maxWidth, maxLines - 1)]
  }
  const cut = text.slice(0, fittingLength(text, maxWidth - lineWidth('…')))
  return [`${cut.replace(/[\s\p{Po}\p{Pd}]+$/u, '')}…`]
}

/** Returns a line of at most `maxWidth` em. */
export const fitLine = (text: string, maxWidth: number): string => wrapLine(text, maxWidth, 1).join('')

/** Checks whether a text begins with a script that is written from right to left (UAX #9, P2 and P3). */
export const isRightToLeft = (text: string): boolean => {
  const [first = ''] = /[\p{L}\u061c\u200e\u200f]/u.exec(text) ?? []
  return /^[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(first)
}

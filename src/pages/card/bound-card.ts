import { isJsonObject, type Json, jsonEntries } from '../../json/index.ts'
import { escapeInvisible, shorten } from '../components/index.ts'

/** The part of a card that its page shows; far more than what people write. */
const MAX_SHOWN_LENGTH = 220_000
const MAX_SHOWN_TEXT = 4000
/** The cost of the elements around a text, in characters. */
const ELEMENT_LENGTH = 30

/** The objects of a card whose members have names of the author's choice. */
const maps = new Set(['securitySchemes', 'schemes', 'scopes', 'params', 'header'])

/**
 * Returns the part of a card that a page shows: long texts are cut, and lists and maps end after `MAX_SHOWN_LENGTH`
 * characters. All other objects keep their members, and with them the type of the card.
 */
export const boundCard = <Card extends Json>(card: Card): { card: Card; isCut: boolean } => {
  let left = MAX_SHOWN_LENGTH
  let isCut = false
  const cutText = (text: string): string => {
    const shown = left > 0 ? Math.min(MAX_SHOWN_TEXT, left) : 0
    left -= Math.min(text.length, shown) + ELEMENT_LENGTH
    if (text.length <= shown) return text
    isCut = true
    return shorten(text, shown)
  }
  const hasRoom = (): boolean => {
    isCut ||= left <= 0
    return left > 0
  }
  const cut = (value: Json, name = ''): Json => {
    if (typeof value === 'string') return cutText(value)
    left -= ELEMENT_LENGTH
    if (Array.isArray(value)) return value.flatMap(item => (hasRoom() ? [cut(item)] : []))
    if (!isJsonObject(value)) return value
    const isMap = maps.has(name)
    return Object.fromEntries(
      jsonEntries(value).flatMap(([member, inner]) =>
        isMap && !hasRoom() ? [] : [[isMap ? cutText(member) : member, cut(inner, isMap ? '' : member)]],
      ),
    )
  }
  return { card: cut(card) as Card, isCut }
}

/** Returns a text as one short line, without characters that would reorder the words around it. */
export const headline = (text: string, maxLength: number): string => {
  const line = text
    .slice(0, 4 * maxLength)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .replace(/[\p{Bidi_Control}\u2028\u2029]/gu, '')
    .trim()
  return shorten(line.toWellFormed(), maxLength)
}

/** Returns the JSON text of a value in which characters that are invisible, or that reorder others, are escaped. */
export const visibleJson = (value: Json): string => escapeInvisible(JSON.stringify(value) ?? 'null')

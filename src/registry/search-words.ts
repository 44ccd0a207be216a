import { foldText } from '../card/model/constants.ts'

/** Scripts that are written without spaces between words: each character is indexed by itself, and a word is a phrase of them. */
const unspaced = '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]'
const unspacedCharacter = new RegExp(`${unspaced}\\p{M}*`, 'gu')
const endsUnspaced = new RegExp(`${unspaced}\\p{M}*$`, 'u')

/** Returns a text as it is indexed: without differences of case and width, and with spaces in scripts that have none. */
export const toIndexedText = (text: string): string => fold(text).replace(unspacedCharacter, ' $& ')

/** Returns the words of a query: what is between spaces and punctuation. */
export const splitWords = (query: string): string[] => [...new Set(fold(query).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [])]

/**
 * Returns the FTS5 expression for agents that have all of these words, in one column if it is named. A word also matches longer ones
 * that begin with it, which rank lower. No character of a word is special within quotation marks.
 */
export const toMatchExpression = (words: readonly string[], column?: string): string =>
  words
    .map(word => {
      const phrase = `"${toIndexedText(word).trim().replaceAll('"', '""')}"`
      const match = endsUnspaced.test(word) ? phrase : `(${phrase} OR ${phrase}*)`
      return column === undefined ? match : `${column} : ${match}`
    })
    .join(' AND ')

/** SQLite folds the accents; "ß" has no accent and no upper case of its own. */
const fold = (text: string): string => foldText(text).replaceAll('ß', 'ss')

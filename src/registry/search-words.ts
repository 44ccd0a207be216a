import { foldText } from '../card/model/index.ts'
import { MAX_WORD_BEGINNINGS } from '../limits.ts'

/** Scripts that are written without spaces between words: each character is indexed by itself, and a word is a phrase of them. */
const unspaced = '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]'
const unspacedCharacter = new RegExp(`${unspaced}\\p{M}*`, 'gu')
const endsUnspaced = new RegExp(`${unspaced}\\p{M}*$`, 'u')

/** Returns a text as it is indexed: without differences of case and width, and with spaces in scripts that have none. */
export const toIndexedText = (text: string): string => fold(text).replace(unspacedCharacter, ' $& ')

/** Returns the words of a query: what is between spaces, punctuation and emoji. A mark alone, as an emoji may end with, is no word. */
export const splitWords = (query: string): string[] => [
  ...new Set(fold(query).match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? []),
]

/**
 * Returns the FTS5 expressions for agents that have all of these words, those of `nameWords` in the name; the best matches first, the
 * last one for all: all words in the name, all words anywhere, and the same for the beginnings of longer words.
 */
export const toMatchExpressions = (words: readonly string[], nameWords: readonly string[] = []): string[] => [
  ...new Set(
    [toPhrases, toBeginnings].flatMap(form => {
      const namePhrases = form(nameWords).map(inName)
      const phrases = form(words)
      return [join([...phrases.map(inName), ...namePhrases], 'AND'), join([...phrases, ...namePhrases], 'AND')]
    }),
  ),
]

/** Returns the same for agents that have any of these words: those with all of them first. */
export const toAnyWordExpressions = (words: readonly string[]): string[] => [
  ...new Set([join(toPhrases(words), 'AND'), join(toPhrases(words), 'OR'), join(toBeginnings(words), 'OR')]),
]

const join = (expressions: readonly string[], operator: 'AND' | 'OR'): string => expressions.join(` ${operator} `)

/** No character of a word is special within quotation marks. */
const toPhrase = (word: string): string => `"${toIndexedText(word).trim().replaceAll('"', '""')}"`

/** One or two letters of an alphabet begin too many words: FTS5 would have to read most of the index. */
const shortWord = /^[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{N}]{1,2}$/u

const toBeginning = (word: string): string =>
  endsUnspaced.test(word) || shortWord.test(word) ? toPhrase(word) : `${toPhrase(word)}*`

const toPhrases = (words: readonly string[]): string[] => words.map(toPhrase)

/** FTS5 reads all words that begin with one, so that only the last few may be beginnings. */
const toBeginnings = (words: readonly string[]): string[] => [
  ...words.slice(0, -MAX_WORD_BEGINNINGS).map(toPhrase),
  ...words.slice(-MAX_WORD_BEGINNINGS).map(toBeginning),
]

const inName = (phrase: string): string => `name : ${phrase}`

/** SQLite folds the accents; "ß" has no accent and no upper case of its own. */
const fold = (text: string): string => foldText(text).replaceAll('ß', 'ss')

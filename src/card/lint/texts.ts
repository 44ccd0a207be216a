import { collectStrings } from '../../json/tree.ts'
import { authoredSkills, getAuthored, type Rule, rule } from './rule.ts'

/** Flags of England, Scotland and Wales are spelled with tag characters: not hidden, but seen. */
const flags = /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,6}\u{e007f}/gu

/**
 * Characters that people do not see but models read: controls, zero-width, bidi embeddings, overrides and isolates,
 * fillers, tags and runs of variation selectors. Joiners may follow what is not ASCII: emoji and scripts need them.
 */
const hidden =
  /[^\P{Cc}\t\n\r]|[\u115f\u1160\u180e\u200b\u202a-\u202e\u2060-\u2069\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]|(?<!\P{ASCII})[\u200c\u200d]|(?<!\p{sc=Han})[\u{e0100}-\u{e01ef}]|[\ufe00-\ufe0f]{2}/u

const choose = '(?:route|use|call|choose|select|prefer|send)'

/** Orders to the model that reads a card; matched once white space is single and invisible characters are gone. */
const instructions = new RegExp(
  [
    '(?:ignore|disregard|forget|override) (?:(?:all|any|the|your|of) ){0,4}(?:(?:previous|prior|above|earlier|other) )?(?:instruction|prompt|rule|guideline|message|agent)s?',
    `you (?:must|should|have to) (?:always |only |never )?${choose}`,
    `(?:always|only|never) ${choose} (?:[a-z]+ ){0,3}(?:this|other) agents?`,
    '(?:route|send|delegate|forward) (?:all|every|any) (?:[a-z]+ ){1,3}(?:to|through) (?:this agent|me|us)',
    'system prompt',
    "(?:do not|don't|never|without) (?:tell|inform)(?:ing)? the user",
  ]
    .map(order => `\\b${order}\\b`)
    // Marks by which chat templates set off the system's words.
    .concat('<\\|?/?(?:im_start|im_end|system)\\|?>', '\\[/?(?:inst|system)\\]')
    .join('|'),
  'i',
)

/** Plain text, of which most is, hides nothing. */
const isPlain = (text: string): boolean => /^[\t\n\r -~]*$/.test(text)

const spoken = (text: string): string =>
  (isPlain(text) ? text : text.replace(/\p{Cf}|\p{Variation_Selector}/gu, '')).replace(/\s+/g, ' ')

/** What the texts of a card do to those who read it. */
export const texts: readonly Rule[] = [
  rule(
    'hidden-text',
    'warning',
    'holds characters that people cannot see but models read: type the text again without them',
    ({ authored }) =>
      collectStrings(authored)
        .filter(({ value }) => !isPlain(value) && hidden.test(value.replace(flags, '')))
        .map(({ pointer }) => pointer()),
  ),
  rule(
    'instruction-text',
    'warning',
    'reads like an order to the model that reads it, and clients may distrust the card: describe, do not command',
    ({ authored }) =>
      collectStrings(authored)
        .filter(({ value }) => instructions.test(spoken(value)))
        .map(({ pointer }) => pointer()),
  ),
]

/** Words that tell a router nothing. */
const emptyWords = new Set(
  `a an and any anything can do does everything for handle handles help helps in is it of on or something stuff that
  the things this to useful various what with you your agent assistant skill`.split(/\s+/),
)

/** A word; in scripts that are written without spaces, two characters stand for one. */
const word = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]{1,2}|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu

const fewestWords = 3

/** A description that is long enough shows it early. */
const beginning = 400

const isThin = (name: string, description: string): boolean => {
  const text = description.slice(0, beginning).toLowerCase()
  const telling = (text.match(word) ?? []).filter(found => !emptyWords.has(found))
  return telling.length < fewestWords || text.trim() === name.trim().toLowerCase()
}

/** What orchestrators route by. */
export const descriptions: readonly Rule[] = [
  rule(
    'thin-description',
    'warning',
    'says too little to route by: say what is done, to what, and with what result',
    subject => [
      ...(isThin(subject.card.name, subject.card.description) ? [getAuthored(subject, '/description').place] : []),
      ...authoredSkills(subject)
        .filter(({ skill }) => isThin(skill.name, skill.description))
        .map(({ place }) => `${place}/description`),
    ],
  ),
]

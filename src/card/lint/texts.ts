import { collectStrings } from '../../json/index.ts'
import { getAuthored, getAuthoredSkills, type Rule, rule } from './rule.ts'

/** The flags of England, Scotland and Wales: tag characters that are visible. */
const flags = /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,6}\u{e007f}/gu

/**
 * Characters that people cannot see but models read: controls, zero-width characters, bidi embeddings, overrides and isolates,
 * fillers, tags and runs of variation selectors. Joiners may follow a character that is not ASCII: emoji and scripts need them.
 */
const hidden =
  /[^\P{Cc}\t\n\r]|[\u115f\u1160\u180e\u200b\u202a-\u202e\u2060-\u2069\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]|(?<!\P{ASCII})[\u200c\u200d]|(?<!\p{sc=Han})[\u{e0100}-\u{e01ef}]|[\ufe00-\ufe0f]{2}/u

const chooseVerb = '(?:route|use|call|choose|select|prefer|send)'

/** Instructions to the model that reads a card. Matches normalized text. */
const instructions = new RegExp(
  [
    '(?:ignore|disregard|forget|override) (?:(?:all|any|the|your|of) ){0,4}(?:(?:previous|prior|above|earlier|other) )?(?:instruction|prompt|rule|guideline|message|agent)s?',
    `you (?:must|should|have to) (?:always |only |never )?${chooseVerb}`,
    `(?:always|only|never) ${chooseVerb} (?:[a-z]+ ){0,3}(?:this|other) agents?`,
    '(?:route|send|delegate|forward) (?:all|every|any) (?:[a-z]+ ){1,3}(?:to|through) (?:this agent|me|us)',
    'system prompt',
    "(?:do not|don't|never|without) (?:tell|inform)(?:ing)? the user",
  ]
    .map(instruction => `\\b${instruction}\\b`)
    // Markers of the system prompt in chat templates.
    .concat('<\\|?/?(?:im_start|im_end|system)\\|?>', '\\[/?(?:inst|system)\\]')
    .join('|'),
  'i',
)

/** Most texts are printable ASCII, which cannot hide anything. */
const isPrintableAscii = (text: string): boolean => /^[\t\n\r -~]*$/.test(text)

/** Removes invisible characters and reduces white space. */
const normalizeText = (text: string): string =>
  (isPrintableAscii(text) ? text : text.replace(/\p{Cf}|\p{Variation_Selector}/gu, '')).replace(/\s+/g, ' ')

/** Rules about texts that could mislead the people or models that read a card. */
export const texts: readonly Rule[] = [
  rule(
    'hidden-text',
    'warning',
    'contains characters that people cannot see but models read: type the text again without them',
    ({ authored }) =>
      collectStrings(authored)
        .filter(({ value }) => !isPrintableAscii(value) && hidden.test(value.replace(flags, '')))
        .map(({ pointer }) => pointer()),
  ),
  rule(
    'instruction-text',
    'warning',
    'reads like an instruction to a model, so clients may distrust the card: describe what the agent does, as in "Forecasts the weather of any place"',
    ({ authored }) =>
      collectStrings(authored)
        .filter(({ value }) => instructions.test(normalizeText(value)))
        .map(({ pointer }) => pointer()),
  ),
]

/** Words that do not help a router. */
const stopWords = new Set(
  `a an and any anything can do does everything for handle handles help helps in is it of on or something stuff that
  the things this to useful various what with you your agent assistant skill`.split(/\s+/),
)

/** A word. In scripts without spaces, two characters count as one. */
const word = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]{1,2}|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu

const MIN_CONTENT_WORDS = 3

/** The part of a description that is searched for content words. */
const MAX_SEARCHED_CHARACTERS = 400

const isTooVague = (name: string, description: string): boolean => {
  const text = description.slice(0, MAX_SEARCHED_CHARACTERS).toLowerCase()
  const contentWords = (text.match(word) ?? []).filter(found => !stopWords.has(found))
  return contentWords.length < MIN_CONTENT_WORDS || text.trim() === name.trim().toLowerCase()
}

/** Rules about descriptions, by which orchestrators route. */
export const descriptions: readonly Rule[] = [
  rule(
    'thin-description',
    'warning',
    'is too vague for routing: name the action, its object and its result, as in "Reads PDF invoices and returns their amounts as JSON"',
    context => [
      ...(isTooVague(context.card.name, context.card.description)
        ? [getAuthored(context, '/description').pointer]
        : []),
      ...getAuthoredSkills(context)
        .filter(({ skill }) => isTooVague(skill.name, skill.description))
        .map(({ pointer }) => `${pointer}/description`),
    ],
  ),
]

import { test as isMediaTypeName } from 'media-typer'
import { asList, collectStrings, formatPointer, isJsonObject, type Pointer, parseMediaRange } from '../../json/index.ts'
import { isBehindBridge } from '../manifest/index.ts'
import { type Finding, toSlug } from '../model/index.ts'
import { canonicalFlag, listCapabilityNames } from '../read/index.ts'
import type { AuthoredSkill, Found, LintContext, Rule } from './rule.ts'
import { closestExisting, getAuthored, getAuthoredSkills, info, isBlank, setTo, warning } from './rule.ts'

/** Returns the places of the `streaming` and `pushNotifications` flags that are true, either declared or by default. */
const trueFlags = (context: LintContext, declared: boolean): Pointer[] => {
  const names = listCapabilityNames(context.authored.capabilities)
  const isDeclared = (flag: string): boolean =>
    names
      ? names.some(name => canonicalFlag(name) === flag)
      : getAuthored(context, formatPointer('capabilities', flag)).value !== undefined
  return ['streaming', 'pushNotifications']
    .filter(flag => context.card.capabilities[flag] === true && isDeclared(flag) === declared)
    .map(flag => context.sourceOf(formatPointer('capabilities', flag)))
}

/** Returns whether an agent is a bare MCP server: its tools can neither stream A2A events nor send notifications. */
const isMcpOnly = (context: LintContext): boolean =>
  !isBehindBridge(context.manifest) &&
  (context.authored.protocol === 'mcp' ||
    isFromMcpServer(context) ||
    context.card.supportedInterfaces.every(item => item.protocolBinding.toUpperCase() === 'MCP'))

/** Returns whether a card is made from an MCP server: MCP has no tags, examples and modes to declare. */
const isFromMcpServer = ({ manifest }: LintContext): boolean => manifest.upstream.mcp !== undefined

const forEachSkill =
  (field: string, isWrong: (skill: AuthoredSkill, context: LintContext) => boolean) =>
  (context: LintContext): Pointer[] =>
    getAuthoredSkills(context).flatMap(skill => (isWrong(skill, context) ? [skill.pointer + formatPointer(field)] : []))

/** Accepts parameters and wildcards. */
const isMediaType = (mode: string): boolean => isMediaTypeName(mode.split(';', 1).join().trim().replaceAll('*', 'x'))

const NOT_A_MEDIA_TYPE = 'is not a media type, such as "text/plain"'

/** Describes what this host does with a mode that is not a media type. */
const describeMode = (mode: string): string => {
  const { range } = parseMediaRange(mode)
  return range.includes('*')
    ? `${NOT_A_MEDIA_TYPE}: this host takes it for ${range}, but other hosts and clients may match it with nothing`
    : `${NOT_A_MEDIA_TYPE}: this host matches it with the same word only`
}

const findWrongModes = ({ card, sourceOf }: LintContext): Finding[] => {
  const { defaultInputModes, defaultOutputModes } = card
  const skills = card.skills.map(({ inputModes, outputModes }) => ({ inputModes, outputModes }))
  return collectStrings({ defaultInputModes, defaultOutputModes, skills })
    .filter(({ value }) => !isMediaType(value))
    .map(({ value, pointer }) => ({ pointer: sourceOf(pointer()), message: describeMode(value) }))
}

/** The flags of England, Scotland and Wales: tag characters that are visible. */
const flags = /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,6}\u{e007f}/gu

/**
 * Characters that people cannot see but models read: controls, zero-width characters, bidi embeddings, overrides and
 * isolates, fillers, tags and runs of variation selectors. Joiners may follow a character that is not ASCII: emoji and
 * scripts need them.
 */
const hidden = new RegExp(
  [
    /[^\P{Cc}\t\n\r]/u,
    /[\u115f\u1160\u180e\u200b\u202a-\u202e\u2060-\u2069\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/u,
    /(?<!\P{ASCII})[\u200c\u200d]|(?<!\p{sc=Han})[\u{e0100}-\u{e01ef}]|[\ufe00-\ufe0f]{2}/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'u',
)

const chooseVerb = '(?:route|use|call|choose|select|prefer|send)'

/** Instructions to the model that reads a card. Matches normalized text. */
const instructions = new RegExp(
  [
    '(?:ignore|disregard|forget|override) (?:(?:all|any|the|your|of) ){0,4}' +
      '(?:(?:previous|prior|above|earlier|other) )?(?:instruction|prompt|rule|guideline|message|agent)s?',
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

/** Removes invisible characters and reduces white space. Single spaces, which are most of it, stay as they are. */
const normalizeText = (text: string): string =>
  (isPrintableAscii(text) ? text : text.replace(/\p{Cf}|\p{Variation_Selector}/gu, '')).replace(/\s{2,}|[^\S ]/g, ' ')

const findTexts =
  (
    isWrong: (text: string) => boolean,
    toFound: (pointer: Pointer, text: string) => Pointer | Found = pointer => pointer,
  ) =>
  ({ strings }: LintContext): (Pointer | Found)[] =>
    strings.flatMap(({ value, pointer }) => (isWrong(value) ? [toFound(pointer(), value)] : []))

const withoutHidden = (pointer: Pointer, text: string): Pointer | Found =>
  flags.test(text) ? pointer : setTo(pointer, text.replaceAll(new RegExp(hidden, 'gu'), ''))

/** Rules about texts that could mislead the people or models that read a card. */
export const texts: readonly Rule[] = [
  /**
   * No text contains invisible characters: zero-width characters, bidi overrides, tags, controls. Emoji and scripts
   * that need joiners are fine. Reason: They hide words from the people who review a card.
   */
  warning(
    'hidden-text',
    'contains characters that people cannot see but models read: type the text again without them',
    findTexts(text => !isPrintableAscii(text) && hidden.test(text.replace(flags, '')), withoutHidden),
  ),
  /**
   * No text gives orders to the model that reads it, such as "ignore previous instructions" or "you must always route
   * to this agent". Reason: Orchestrators put descriptions into prompts; clients may reject a card that tries this.
   */
  warning(
    'instruction-text',
    'reads like an instruction to a model, so clients may distrust the card: describe what the agent does',
    findTexts(text => instructions.test(normalizeText(text))),
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

const MAX_SEARCHED_CHARACTERS = 400

const isTooVague = ({ name, description }: { name: string; description: string }): boolean => {
  const text = description.slice(0, MAX_SEARCHED_CHARACTERS).toLowerCase()
  if (text.trim() === name.trim().toLowerCase()) return true
  let contentWords = 0
  // The first words decide.
  for (const [found] of text.matchAll(word))
    if (!stopWords.has(found) && ++contentWords === MIN_CONTENT_WORDS) return false
  return true
}

const kebabCase = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Finds the ids of skills that are not kebab-case. What one is in kebab-case is certain if no other skill has it. */
const findIdsToRename = (context: LintContext): (Pointer | Found)[] =>
  getAuthoredSkills(context).flatMap(({ skill: { id }, authored, pointer }) => {
    if (kebabCase.test(id)) return []
    const renamed = toSlug(id, '')
    const isTaken = context.card.skills.some(other => other.id === renamed)
    const isCertain =
      authored.id === id && isPrintableAscii(id) && id.length < 64 && kebabCase.test(renamed) && !isTaken
    return [isCertain ? setTo(`${pointer}/id`, renamed) : `${pointer}/id`]
  })

/** Rules about capabilities, about descriptions, by which orchestrators route, and about skills and their modes. */
export const content: readonly Rule[] = [
  /**
   * A card in GopherHole's form declares `streaming` and `pushNotifications`. Reason: By GopherHole's defaults, both
   * are advertised as supported.
   */
  info(
    'capability-undeclared',
    'do not declare streaming or pushNotifications, which are then advertised: set both, as in { "streaming": false }',
    context =>
      !isBehindBridge(context.manifest) && trueFlags(context, false).length > 0
        ? [context.sourceOf('/capabilities')]
        : [],
  ),
  /**
   * The card does not declare `streaming` or `pushNotifications` where neither is possible: all interfaces speak MCP,
   * or the manifest has `route: closed`. Reason: Clients that rely on them get errors.
   */
  warning(
    'capability-impossible',
    'cannot be true for an MCP endpoint, or with `route: closed`: set it to false',
    context =>
      context.manifest.route === 'closed' || isMcpOnly(context)
        ? trueFlags(context, true).map(flag =>
            closestExisting(context.authored, flag).value === true ? setTo(flag, false) : flag,
          )
        : [],
  ),
  /**
   * The descriptions of the agent and of each skill have at least three meaningful words, and do not only repeat the
   * name. Reason: Orchestrators route by descriptions; "Handles code stuff" is not enough.
   */
  warning(
    'thin-description',
    'is too vague for routing: name the action, its object and its result, ' +
      'as in "Reads PDF invoices and returns their amounts as JSON"',
    context => [
      ...(isTooVague(context.card) ? [getAuthored(context, '/description').pointer] : []),
      ...forEachSkill('description', ({ skill }) => isTooVague(skill))(context),
    ],
  ),
  /** The card declares its skills. Reason: Clients search for skills; a skill `main` was filled in. */
  info(
    'skills-undeclared',
    'are missing, so one, "main", was made from the name and description: declare what the agent can do, as in ' +
      '{ "id": "read-invoice", "name": "Read an invoice", "description": "Returns its amounts", "tags": ["invoice"] }',
    ({ authored }) => (isBlank(authored.skills) ? ['/skills'] : []),
  ),
  /**
   * Skill ids are kebab-case, of at most 64 characters. Reason: This is the spelling of A2A's guides; other characters
   * break URLs, logs and tool names that are made from ids.
   */
  info('skill-id-kebab-case', 'is not kebab-case of at most 64 characters, such as "code-review"', findIdsToRename),
  /** Each skill has tags, except the tools of an MCP server. Reason: People search by tags; `general` was filled in. */
  info(
    'tags-undeclared',
    'are missing: add words that people search for, as in ["invoice", "pdf"]',
    forEachSkill('tags', ({ authored }, context) => !isFromMcpServer(context) && isBlank(authored.tags)),
  ),
  /**
   * Each skill has at least two different examples, unless it is a tool of an MCP server, which has none. Reason:
   * Orchestrators learn from them what valid input is.
   */
  info(
    'few-examples',
    'are fewer than two: add real prompts, from which orchestrators learn, as in "What is the total of this invoice?"',
    forEachSkill('examples', ({ skill: { examples } }, context) => {
      return !isFromMcpServer(context) && new Set(examples?.map(example => example.trim())).size < 2
    }),
  ),
  /** The MCP server has the tool that `upstream.defaultTool` names. Reason: A message that names no tool is refused. */
  warning(
    'default-tool-unknown',
    'have no tool that `upstream.defaultTool` names, so a message that names none is refused: correct the name',
    ({ manifest, authored, card }) => {
      const { defaultTool } = manifest.upstream
      const tools = asList(authored.skills).filter(isJsonObject)
      const names = [...tools.map(({ id, name }) => id ?? name), ...card.skills.map(({ id }) => id)]
      return defaultTool === undefined || names.includes(defaultTool) ? [] : ['/skills']
    },
  ),
  /**
   * The card declares its input and output modes, unless it is made from an MCP server, which declares none. Reason:
   * The defaults promise JSON, which the agent may not support.
   */
  info(
    'modes-undeclared',
    'are missing, so defaults were filled in: declare the media types that the agent supports, as in ["text/plain"]',
    context =>
      (isFromMcpServer(context) ? [] : ['/defaultInputModes', '/defaultOutputModes'])
        .map(name => getAuthored(context, name))
        .filter(({ value }) => isBlank(value))
        .map(({ pointer }) => pointer),
  ),
  /**
   * Every mode of the card and of its skills is a media type. Reason: The gate reads `text`, `image`, `audio` and
   * `video` as all types of that kind and `*` as any type; any other word matches only itself. Other hosts and clients
   * may match nothing.
   */
  warning('mode-media-type', NOT_A_MEDIA_TYPE, findWrongModes),
]

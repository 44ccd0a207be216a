import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { asList, asObject, formatPointer, isJsonObject, jsonEntries, toText } from '../../json/index.ts'
import { MAX_SIGNATURES } from '../../limits.ts'
import { dialects } from '../dialects/index.ts'
import { callerPolicy } from '../manifest/index.ts'
import type { Finding } from '../model/index.ts'
import { cardFlags, getWrappers, requirementFields } from '../read/index.ts'
import { readHeader } from '../signatures/index.ts'
import type { Authored, LintContext, Rule } from './rule.ts'
import { closestExisting, error, getAuthored, getAuthoredSkills, info, setTo, warning } from './rule.ts'

type Reference = { name: string; pointer: Pointer }

/** Returns the schemes that a requirement names, in the form of any generation. */
const findReferences = (requirement: Json | undefined, pointer: Pointer): Reference[] => {
  if (typeof requirement === 'string') return [{ name: requirement, pointer }]
  if (Array.isArray(requirement))
    return requirement.flatMap((item, index) => findReferences(item, pointer + formatPointer(index)))
  if (!isJsonObject(requirement)) return []
  return isJsonObject(requirement.schemes)
    ? findReferences(requirement.schemes, `${pointer}/schemes`)
    : Object.keys(requirement).map(name => ({ name, pointer: pointer + formatPointer(name) }))
}

const listRequired = (context: LintContext): Reference[] =>
  [{ authored: context.authored, pointer: '' }, ...getAuthoredSkills(context)].flatMap(({ authored, pointer }) =>
    requirementFields.flatMap(name => findReferences(authored[name], pointer + formatPointer(name))),
  )

const unknownType = 'is of a type that A2A does not have'

/** Suggests what to write in place of a scheme of an unknown type. */
const suggestScheme = ({ type, scheme }: JsonObject, { pointer, value }: Authored): Finding => {
  const word = toText(type ?? scheme ?? '').toLowerCase()
  if (word !== 'bearer' && word !== 'basic')
    return { pointer, message: `${unknownType}: use apiKey, http, oauth2, openIdConnect or mutualTLS` }
  const message = `${unknownType}: write { "type": "http", "scheme": "${word}" }`
  return isJsonObject(value)
    ? { message, ...setTo(pointer, { ...value, type: 'http', scheme: word }) }
    : { pointer, message }
}

/** Finds the schemes of unknown types that a requirement names. Cards of A2A are served without them. */
const findUnknownTypes = (context: LintContext): Finding[] => {
  const required = new Set(listRequired(context).map(({ name }) => name))
  return Object.entries(definedSchemes(context)).flatMap(([name, scheme]) =>
    required.has(name) && isJsonObject(scheme) && getWrappers(scheme).length === 0
      ? [suggestScheme(scheme, getAuthored(context, formatPointer('securitySchemes', name)))]
      : [],
  )
}

const definedSchemes = ({ card }: LintContext): JsonObject => card.securitySchemes ?? {}

/** Returns whether clients call an agent at its own address although the manifest limits its callers. */
const hasUncheckedCallers = ({ manifest }: LintContext): boolean =>
  manifest.route === 'direct' && callerPolicy(manifest) !== 'anyone'

/** Returns the signatures of the author that are served: with another `signatures` than `keep`, none are. */
const keptSignatures = ({ authored, manifest }: LintContext): Json[] =>
  manifest.signatures === 'keep' ? asList(authored.signatures) : []

const findUnverifiable = (context: LintContext): Finding[] =>
  keptSignatures(context).flatMap((signature, index) => {
    const pointer = formatPointer('signatures', index)
    if (index === MAX_SIGNATURES)
      return [{ pointer, message: `and those after it are not read: a card may have ${MAX_SIGNATURES} signatures` }]
    const read = index < MAX_SIGNATURES ? readHeader(signature) : {}
    if ('reason' in read) return [{ pointer, message: `${read.reason}, so no client accepts it` }]
    const message = 'is no field of A2A, which signs cards without their payload: remove it'
    const payload = `${pointer}/payload`
    const change = { op: 'remove', path: payload } as const
    return asObject(signature).payload === undefined ? [] : [{ pointer: payload, message, change }]
  })

const findUnsignable = (context: LintContext): Finding[] => {
  const isSigned = keptSignatures(context).length > 0
  // Signatures matter to the owner only then: without a sign of that, what they do not cover is no news.
  if (!isSigned && context.manifest.signatures !== 'resign') return []
  const { document, dropped } = dialects['1.0'].write(context.card)
  const { signatures: _, securityRequirements: __, ...fields } = document
  const found: Record<string, Pointer[]> = {
    [OPEN_REQUIREMENT]: findOpenRequirements(context),
    [`is empty: ${NOT_COVERED}`]: findEmpty(fields, ''),
    [`is no field of A2A 1.0: ${NOT_COVERED}`]: dropped,
    ...(isSigned && { [IMPLICIT_CAPABILITY]: findImplicit(context), [ODD_NUMBER]: findOddParams(context) }),
  }
  const messages = new Map(
    Object.entries(found).flatMap(([message, pointers]) =>
      pointers.map(pointer => [context.sourceOf(pointer), message] as const),
    ),
  )
  return [...messages].flatMap(([pointer, message]) => {
    const isAuthored = closestExisting(context.authored, pointer).value !== undefined
    return isAuthored !== (message === IMPLICIT_CAPABILITY) ? [{ pointer, message }] : []
  })
}

const NOT_COVERED = 'signatures as a2a-js and a2a-python read them do not cover it, so somebody could change it'
const OPEN_REQUIREMENT =
  'has no scopes: a2a-js and a2a-python leave it out before they verify a signature, so somebody could remove it'
const IMPLICIT_CAPABILITY =
  'is not declared, so this host adds it, and your signatures no longer cover the card: declare it, and sign again'
const ODD_NUMBER =
  'is written in another way by a2a-python up to 1.1, which rejects your signatures for it: use a string'

/** Returns the requirements of the card and of its skills without a scope. */
const findOpenRequirements = ({ card }: LintContext): Pointer[] =>
  [card, ...card.skills].flatMap(({ securityRequirements = [] }, each) => {
    const at = each === 0 ? '' : formatPointer('skills', each - 1)
    return securityRequirements.flatMap(({ schemes }, index) =>
      Object.values(schemes).every(scopes => (scopes.list ?? []).length === 0)
        ? [at + formatPointer('securityRequirements', index)]
        : [],
    )
  })

const findEmpty = (value: Json, pointer: Pointer): Pointer[] => {
  if (value === '' || value === null) return [pointer]
  if (typeof value !== 'object') return []
  const members = jsonEntries(value)
  if (members.length === 0) return [pointer]
  return members.flatMap(([name, member]) =>
    name === 'securityRequirements' ? [] : findEmpty(member, pointer + formatPointer(name)),
  )
}

const findImplicit = (context: LintContext): Pointer[] =>
  cardFlags
    .map(name => formatPointer('capabilities', name))
    .filter(pointer => getAuthored(context, pointer).value === undefined)

const findOddParams = ({ card }: LintContext): Pointer[] =>
  (card.capabilities.extensions ?? []).flatMap(({ params }, index) =>
    findOddNumbers(params ?? null, formatPointer('capabilities', 'extensions', index, 'params')),
  )

/** Finds numbers that Python writes differently from RFC 8785: whole ones, and those with an exponent. */
const findOddNumbers = (value: Json, pointer: Pointer): Pointer[] => {
  if (typeof value === 'number') return Number.isInteger(value) || Math.abs(value) < 1e-4 ? [pointer] : []
  if (typeof value !== 'object' || value === null) return []
  return jsonEntries(value).flatMap(([name, member]) => findOddNumbers(member, pointer + formatPointer(name)))
}

/** Rules about authentication, and about the signatures of the card's author and those that the manifest requests. */
export const security: readonly Rule[] = [
  /** Every required security scheme is in `securitySchemes`. Reason: Clients cannot know how to authenticate. */
  error(
    'scheme-undefined',
    'is not defined in `securitySchemes`, so no client can call: define it there, or correct the name',
    context =>
      listRequired(context)
        .filter(({ name }) => !Object.hasOwn(definedSchemes(context), name))
        .map(({ pointer }) => pointer),
  ),
  /**
   * Every security scheme that the card or a skill requires is of a type of A2A: `apiKey`, `http`, `oauth2`,
   * `openIdConnect` or `mutualTLS`. Reason: A2A 0.3 and 1.0 have no others, so their cards are served without it.
   */
  error('scheme-type-unknown', unknownType, findUnknownTypes),
  /**
   * An agent whose `callers` are limited, by the manifest or because it has a secret or binding, has no `route:
   * direct`. Reason: Clients call the agent at its own address, where this host cannot check callers.
   */
  warning(
    'callers-unchecked',
    "is the agent's own address, where this host checks no callers: let the agent check them, or set `route: gateway`",
    context => (hasUncheckedCallers(context) ? [context.sourceOf('/supportedInterfaces/0/url')] : []),
  ),
  /**
   * The card declares how callers authenticate, or that they need not (Telex's `authentication.required: false`).
   * Reason: Otherwise, clients call without credentials.
   */
  info(
    'security-undeclared',
    'are missing, so clients call without credentials: if the agent needs any, declare them, as in ' +
      '{ "token": { "type": "http", "scheme": "bearer" } }',
    context =>
      Object.keys(definedSchemes(context)).length > 0 ||
      asObject(context.authored.authentication).required === false ||
      hasUncheckedCallers(context)
        ? []
        : [context.sourceOf('/securitySchemes')],
  ),
  /**
   * Every signature of the author that is served (`signatures: keep`) has a protected header that clients can accept:
   * an algorithm of cards, a `kid`, no `typ` except `JOSE`, no `crit`. There are at most `MAX_SIGNATURES`. Reason: No
   * client accepts any other signature, and some reject the card because of one.
   */
  warning('signature-unverifiable', 'is no signature that a client can verify', findUnverifiable),
  /**
   * A card that its author signs, or that the host signs with `signatures: resign`, has no empty values, unknown fields
   * or requirements without scopes. A card that its author signs also declares its capabilities, and its extensions
   * have no parameters with numbers that SDKs write differently. Reason: [Signatures](docs/design/signatures.md) as
   * a2a-js and a2a-python verify them do not cover these values, or SDKs disagree about them.
   */
  info('unsignable-value', 'is not covered by signatures as most SDKs verify them', findUnsignable),
]

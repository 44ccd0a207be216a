import { formatPointer, isJsonObject, type Json, jsonEntries, type Pointer, parsePointer } from '../../json/index.ts'
import { MAX_SIGNATURES } from '../../limits.ts'
import { dialects } from '../dialects/index.ts'
import { readHeader } from '../signatures/index.ts'
import { closestExisting, type Finding, getAuthored, type LintContext, type Rule } from './rule.ts'

/** Returns the signatures of the author that are served: with another `signatures` than `keep`, none are. */
const keptSignatures = ({ authored, manifest }: LintContext): Json[] =>
  manifest.signatures === 'keep' && Array.isArray(authored.signatures) ? authored.signatures : []

const findUnverifiable = (context: LintContext): Finding[] =>
  keptSignatures(context).flatMap((signature, index) => {
    const pointer = formatPointer('signatures', index)
    if (index === MAX_SIGNATURES)
      return [{ pointer, message: `and those after it are not read: a card may have ${MAX_SIGNATURES} signatures` }]
    const read = index < MAX_SIGNATURES ? readHeader(signature) : {}
    if ('reason' in read) return [{ pointer, message: `${read.reason}, so no client accepts it` }]
    return isJsonObject(signature) && signature.payload !== undefined
      ? [
          {
            pointer: `${pointer}/payload`,
            message: 'is no field of A2A, which signs cards without their payload: remove it',
          },
        ]
      : []
  })

/** Whether signatures matter to the owner: without a sign of that, what they do not cover is no news. */
const isAboutSignatures = (context: LintContext): boolean =>
  keptSignatures(context).length > 0 || context.manifest.signatures === 'resign'

const findUnsignable = (context: LintContext): Finding[] => {
  if (!isAboutSignatures(context)) return []
  const { document, dropped } = dialects['1.0'].write(context.card)
  const { signatures: _, securityRequirements: __, ...fields } = document
  const found: [canonical: Pointer, message: string][] = [
    ...findOpenRequirements(context).map((pointer): [Pointer, string] => [pointer, OPEN_REQUIREMENT]),
    ...findEmpty(fields, '').map((pointer): [Pointer, string] => [pointer, `is empty: ${NOT_COVERED}`]),
    ...dropped.map((pointer): [Pointer, string] => [pointer, `is no field of A2A 1.0: ${NOT_COVERED}`]),
    ...(keptSignatures(context).length > 0 ? findIncompatible(context) : []),
  ]
  const messages = new Map(found.map(([canonical, message]) => [context.sourceOf(canonical), message]))
  return [...messages].flatMap(([pointer, message]) => {
    const isImplicit = message === IMPLICIT_CAPABILITY
    return isAuthored(context, pointer) !== isImplicit ? [{ pointer, message }] : []
  })
}

const NOT_COVERED = 'signatures as a2a-js and a2a-python read them do not cover it, so somebody could change it'
const OPEN_REQUIREMENT =
  'has no scopes: a2a-js and a2a-python leave it out before they verify a signature, so somebody could remove it'
const IMPLICIT_CAPABILITY =
  'is not declared, so it is added to what is served, and your signatures no longer cover that: declare it, and sign again'
const ODD_NUMBER =
  'is written in another way by a2a-python up to 1.1, which rejects your signatures for it: use a string'

const isAuthored = ({ authored }: LintContext, pointer: Pointer): boolean => {
  const existing = closestExisting(authored, pointer)
  return (
    parsePointer(existing).reduce<Json | undefined>(
      (value, token) => (Array.isArray(value) ? value[Number(token)] : isJsonObject(value) ? value[token] : undefined),
      authored,
    ) !== undefined
  )
}

/** Returns the requirements of the card and of its skills without a scope. */
const findOpenRequirements = ({ card }: LintContext): Pointer[] =>
  [
    { at: '', requirements: card.securityRequirements },
    ...card.skills.map((skill, index) => ({
      at: formatPointer('skills', index),
      requirements: skill.securityRequirements,
    })),
  ].flatMap(({ at, requirements = [] }) =>
    requirements.flatMap(({ schemes }, index) =>
      Object.values(schemes).every(scopes => (scopes.list ?? []).length === 0)
        ? [at + formatPointer('securityRequirements', index)]
        : [],
    ),
  )

const findEmpty = (value: Json, pointer: Pointer): Pointer[] => {
  if (value === '' || value === null) return [pointer]
  if (typeof value !== 'object') return []
  const members = jsonEntries(value).filter(([name]) => name !== 'securityRequirements')
  return Object.keys(value).length === 0
    ? [pointer]
    : members.flatMap(([name, member]) => findEmpty(member, pointer + formatPointer(name)))
}

/** Returns what makes the author's own signatures fail, although they are well-formed. */
const findIncompatible = (context: LintContext): [Pointer, string][] => [
  ...['streaming', 'pushNotifications', 'extendedAgentCard']
    .map(name => formatPointer('capabilities', name))
    .filter(pointer => getAuthored(context, pointer).value === undefined)
    .map((pointer): [Pointer, string] => [pointer, IMPLICIT_CAPABILITY]),
  ...(context.card.capabilities.extensions ?? []).flatMap(({ params }, index) =>
    findOddNumbers(params ?? null, formatPointer('capabilities', 'extensions', index, 'params')).map(
      (pointer): [Pointer, string] => [pointer, ODD_NUMBER],
    ),
  ),
]

/** Numbers that Python writes differently from RFC 8785: whole ones, and those that it writes with an exponent. */
const findOddNumbers = (value: Json, pointer: Pointer): Pointer[] => {
  if (typeof value === 'number') return Number.isInteger(value) || Math.abs(value) < 1e-4 ? [pointer] : []
  if (typeof value !== 'object' || value === null) return []
  return jsonEntries(value).flatMap(([name, member]) => findOddNumbers(member, pointer + formatPointer(name)))
}

/** Rules about signatures: those of the card's author, and those that the manifest requests. */
export const signatures: readonly Rule[] = [
  {
    id: 'signature-unverifiable',
    severity: 'warning',
    summary: 'is no signature that a client can verify',
    check: findUnverifiable,
  },
  {
    id: 'unsignable-value',
    severity: 'info',
    summary: 'is not covered by signatures as most SDKs verify them',
    check: findUnsignable,
  },
]

import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { formatPointer, type Pointer } from '../../json/pointer.ts'
import { authoredSkills } from './authored.ts'
import { type LintContext, type Rule, rule } from './rule.ts'

type Reference = { name: string; place: Pointer }

/** The schemes that a requirement names, in whichever form it is written. */
const references = (requirement: Json | undefined, place: Pointer): Reference[] => {
  if (typeof requirement === 'string') return [{ name: requirement, place }]
  if (Array.isArray(requirement))
    return requirement.flatMap((item, index) => references(item, place + formatPointer(index)))
  if (!isJsonObject(requirement)) return []
  return isJsonObject(requirement.schemes)
    ? references(requirement.schemes, `${place}/schemes`)
    : Object.keys(requirement).map(name => ({ name, place: place + formatPointer(name) }))
}

const requirementsOf = (owner: JsonObject, place: Pointer): Reference[] =>
  ['securityRequirements', 'security_requirements', 'security'].flatMap(name =>
    references(owner[name], place + formatPointer(name)),
  )

const defined = ({ card }: LintContext): JsonObject => (card.securitySchemes ?? {}) as JsonObject

/** Telex's way to say that no credentials are asked for. */
const isOpen = ({ authored: { authentication } }: LintContext): boolean =>
  isJsonObject(authentication) && authentication.required === false

/** How callers prove who they are. */
export const security: readonly Rule[] = [
  rule(
    'scheme-undefined',
    'error',
    'is not a scheme of `securitySchemes`, so no client can call: define it there, or correct the name',
    subject =>
      [
        ...requirementsOf(subject.authored, ''),
        ...authoredSkills(subject).flatMap(({ authored, place }) => requirementsOf(authored, place)),
      ]
        .filter(({ name }) => !Object.hasOwn(defined(subject), name))
        .map(({ place }) => place),
  ),
  rule('security-undeclared', 'info', 'are not declared: clients will call without credentials', subject =>
    Object.keys(defined(subject)).length > 0 || isOpen(subject) ? [] : [subject.at('/securitySchemes')],
  ),
]

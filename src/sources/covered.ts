import { createBudget, findUncovered, type Requirements } from '../card/diff/index.ts'
import type { Note } from '../card/model/index.ts'
import { allowsAnonymous } from '../card/read/index.ts'
import { type PayloadRule, toCurrentForm, writePayload } from '../card/signatures/index.ts'
import { formatPointer, isJsonObject, type Json, type JsonObject, jsonEntries, omit } from '../json/index.ts'

/** The part of a card that a signature covers, with notes on what it does not. */
type CoveredCard = { card: JsonObject; notes: Note[] }

/**
 * Returns what a valid signature covers of a card: the payload of its rule, which is a card again. Anybody on the way could have changed
 * the rest. Security requirements are kept beyond that where they only restrict who may call, since the rule `proto` leaves out those
 * without scopes.
 */
export const readCovered = (card: JsonObject, rule: PayloadRule): CoveredCard => {
  const { signatures } = card
  const unsigned = omit(card, 'signatures')
  const payload = JSON.parse(writePayload(rule, unsigned) ?? '{}') as JsonObject
  if (rule === 'served') return { card: { ...payload, signatures }, notes: [] }
  const received = toCurrentForm(unsigned)
  const used = withRequirements(payload, received)
  const lost = jsonEntries(received).filter(([name, value]) => !Object.hasOwn(used, name) && !isEmpty(value))
  const names = [
    ...lost.map(([name]) => name),
    ...(countRequirements(used) < countRequirements(received) ? ['securityRequirements'] : []),
  ]
  const message = `left out, as far as the signature (rule ${rule}) does not cover it`
  const notes = [...new Set(names)].map(name => ({ pointer: formatPointer(name), message }))
  return { card: { ...used, signatures }, notes }
}

/** Counts the alternatives by which callers authenticate, those of skills included. */
const countRequirements = (card: JsonObject): number =>
  [card, ...listObjects(card.skills)].reduce((sum, object) => sum + (readRequirements(object)?.length ?? 0), 0)

const isEmpty = (value: Json): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

/** Adds the requirements of the card as it was received, as far as callers need no less for them than the signature demands. */
const withRequirements = (covered: JsonObject, received: JsonObject): JsonObject => {
  const own = restrict(readRequirements(covered), readRequirements(covered), readRequirements(received))
  const receivedSkills = new Map(listObjects(received.skills).map(skill => [skill.id, skill]))
  const skills = listObjects(covered.skills).map(skill => {
    const signed = readRequirements(skill)
    // A skill's requirements replace those of the card.
    const requirements = restrict(signed, signed ?? own, readRequirements(receivedSkills.get(skill.id)))
    return requirements === undefined ? skill : { ...skill, securityRequirements: requirements as unknown as Json }
  })
  return {
    ...covered,
    ...(own && { securityRequirements: own as unknown as Json }),
    ...(covered.skills !== undefined && { skills }),
  }
}

const restrict = (
  signed: Requirements | undefined,
  demanded: Requirements | undefined,
  received: Requirements | undefined,
): Requirements | undefined => {
  if (received === undefined) return signed
  if (allowsAnonymous(demanded)) return received
  const weaker = new Set(findUncovered(received, demanded ?? [], createBudget()))
  const kept = received.filter((_, index) => !weaker.has(index))
  return kept.length > 0 ? kept : signed
}

const listObjects = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : [])

const readRequirements = (object: JsonObject | undefined): Requirements | undefined =>
  Array.isArray(object?.securityRequirements)
    ? listObjects(object.securityRequirements).map(({ schemes }) => ({
        schemes: Object.fromEntries(
          jsonEntries(isJsonObject(schemes) ? schemes : {}).map(([name, scopes]) => [
            name,
            { list: readScopes(scopes) },
          ]),
        ),
      }))
    : undefined

const readScopes = (scopes: Json): string[] =>
  isJsonObject(scopes) && Array.isArray(scopes.list) ? scopes.list.filter(scope => typeof scope === 'string') : []

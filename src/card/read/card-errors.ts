import * as v from 'valibot'
import { isObject, type JsonObject } from '../../json/json.ts'
import { pointer } from '../../json/pointer.ts'
import { AgentCard } from '../model/agent-card.ts'
import type { CardError } from '../model/report.ts'
import { firstOfEachPlace, issueErrors } from '../model/valibot-errors.ts'
import { endpointsOf } from './endpoint.ts'
import type { Reading } from './provenance.ts'

/** Why a canonical card is refused: each place once, in the words and at the pointers of the authored card. */
export const cardErrors = (canonical: JsonObject, authored: JsonObject, reading: Reading): CardError[] => {
  const { issues = [] } = v.safeParse(AgentCard, canonical)
  return firstOfEachPlace([
    ...endpointErrors(authored),
    ...reading.errors,
    // A default made of a wrong value is wrong too, but only the value is the author's.
    ...issueErrors(issues, place => place)
      .filter(error => !reading.isFilled(error.pointer))
      .map(error => ({ ...error, pointer: reading.authored(error.pointer) })),
    ...duplicateSkills(canonical, reading),
  ])
}

const endpointErrors = (authored: JsonObject): CardError[] =>
  endpointsOf(authored).length > 0
    ? []
    : [
        {
          pointer: Array.isArray(authored.supportedInterfaces) ? '/supportedInterfaces' : '/url',
          message: "is missing: add the agent's `url` to the card, or `upstream.url` to the manifest",
        },
      ]

const duplicateSkills = ({ skills }: JsonObject, reading: Reading): CardError[] => {
  const ids = (Array.isArray(skills) ? skills : []).map(skill => (isObject(skill) ? skill.id : undefined))
  const first = new Map(ids.map((id, index) => [id, index] as const).toReversed())
  return ids.flatMap((id, index) => {
    const other = first.get(id)
    if (typeof id !== 'string' || other === index) return []
    const message = `is "${id}", as that of ${reading.authored(pointer('skills', other ?? 0))} is: each skill needs its own id`
    return [{ pointer: reading.authored(pointer('skills', index, 'id')), message }]
  })
}

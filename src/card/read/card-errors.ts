import * as v from 'valibot'
import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { formatPointer } from '../../json/pointer.ts'
import { AgentCard } from '../model/agent-card.ts'
import type { CardError } from '../model/report.ts'
import { dedupeByPointer, toCardErrors } from '../model/valibot-errors.ts'
import { presentEndpointFields } from './endpoint.ts'
import type { Provenance } from './provenance.ts'

/** Why a canonical card is refused: each place once, in the words and at the pointers of the authored card. */
export const validateCard = (canonical: JsonObject, authored: JsonObject, reading: Provenance): CardError[] => {
  const { issues = [] } = v.safeParse(AgentCard, canonical)
  return dedupeByPointer([
    ...endpointErrors(authored),
    ...reading.errors,
    // A default made of a wrong value is wrong too, but only the value is the author's.
    ...toCardErrors(issues, place => place)
      .filter(error => !reading.isFilled(error.pointer))
      .map(error => ({ ...error, pointer: reading.sourceOf(error.pointer) })),
    ...duplicateSkills(canonical, reading),
  ])
}

const endpointErrors = (authored: JsonObject): CardError[] =>
  presentEndpointFields(authored).length > 0
    ? []
    : [
        {
          pointer: Array.isArray(authored.supportedInterfaces) ? '/supportedInterfaces' : '/url',
          message: "is missing: add the agent's `url` to the card, or `upstream.url` to the manifest",
        },
      ]

const duplicateSkills = ({ skills }: JsonObject, reading: Provenance): CardError[] => {
  const ids = (Array.isArray(skills) ? skills : []).map(skill => (isJsonObject(skill) ? skill.id : undefined))
  const first = new Map(ids.map((id, index) => [id, index] as const).toReversed())
  return ids.flatMap((id, index) => {
    const other = first.get(id)
    if (typeof id !== 'string' || other === index) return []
    const message = `is "${id}", as that of ${reading.sourceOf(formatPointer('skills', other ?? 0))} is: each skill needs its own id`
    return [{ pointer: reading.sourceOf(formatPointer('skills', index, 'id')), message }]
  })
}

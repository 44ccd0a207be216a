import * as v from 'valibot'
import { json, type Observations, strictObject } from '../../card/model/index.ts'
import { count, described, id, list, Pointer, time, toTime } from './parts.ts'

/** The body of `POST /agents/{id}/check`, if there is one: whether work is started, too. */
export const CheckRequest = strictObject({ send: v.optional(v.boolean()) })

const counts = v.record(v.string(), v.number())

const outcomes = { answered: v.number(), refused: v.number(), failed: v.number() }

const Outcomes = v.object(outcomes)

export const Observed = v.object({
  id,
  calls: count('How many calls were observed.'),
  since: v.optional(time('The first of them.')),
  lastSeen: v.optional(time('The last of them.')),
  errorRate: described(v.number(), 'The part of the calls that failed, from 0 to 1.'),
  failures: described(counts, 'Failed calls by reason.'),
  streaming: Outcomes,
  pushNotifications: Outcomes,
  interfaces: v.array(v.object({ protocolBinding: v.string(), protocolVersion: v.string(), ...outcomes })),
  operations: v.record(v.string(), Outcomes),
  mediaTypes: counts,
  proposals: v.optional(
    list(
      v.object({
        ...{ rule: v.string(), pointer: Pointer, message: v.string() },
        seen: counts,
        change: v.object({ op: v.picklist(['add', 'remove']), path: Pointer, value: v.optional(json) }),
      }),
      'Changes that would make the card true. Absent without a valid card.',
    ),
  ),
})
export type Observed = v.InferOutput<typeof Observed>

/** Returns what calls have shown as responses have it. */
export const toObserved = (observations: Observations): Omit<Observed, 'id' | 'proposals'> => {
  const { first, last, protocols, ...observed } = observations
  const { calls, failures } = observed
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
  return {
    ...observed,
    ...(calls > 0 && { since: toTime(first), lastSeen: toTime(last) }),
    errorRate: calls === 0 ? 0 : Number((failed / calls).toFixed(4)),
    interfaces: Object.entries(protocols).map(([protocol, outcomes]) => {
      const [protocolBinding = '', protocolVersion = ''] = protocol.split(' ')
      return { protocolBinding, protocolVersion, ...outcomes }
    }),
  }
}

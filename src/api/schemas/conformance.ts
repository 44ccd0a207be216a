import * as v from 'valibot'
import { json, jsonObject, type Observations, PatchOperation, record, strictObject } from '../../card/model/index.ts'
import { TokenRecord } from '../../registry/shared.ts'
import {
  anyObject,
  count,
  described,
  flag,
  id,
  integer,
  list,
  oneOf,
  Pointer,
  text,
  texts,
  time,
  toTime,
} from './parts.ts'

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
        change: PatchOperation,
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

// Dry runs

const example = '{"call": {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "task-1"}}}'

const headers = record(
  v.pipe(v.string(), v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be the value of a header')),
  'must be an object of headers',
  v.pipe(v.string(), v.regex(/^(?:(?:X-)?A2A-Extensions|A2A-Version|Content-Type)$/, 'is not a header that decides')),
)

const path = v.pipe(
  v.string(),
  v.transform(path => path.replace(/^\//, '')),
  v.check(
    path => !path.includes('#') && new URL(`https://agent.example/a2a/${path}`).pathname.startsWith('/a2a/'),
    "must be a path below the agent's endpoint, such as message:send or tasks/1",
  ),
)

/** The body of `POST /agents/{id}/admit`: a call as a client would send it, and what its credentials would permit. */
export const AdmitRequest = v.pipe(
  strictObject(
    {
      call: v.optional(jsonObject('must be the JSON-RPC request, as an object')),
      http: v.optional(
        strictObject(
          {
            method: v.picklist(['GET', 'POST', 'DELETE'], 'must be GET, POST or DELETE'),
            path,
            body: v.optional(json),
          },
          'must be an object with method, path and, for POST, body',
        ),
      ),
      headers: v.optional(headers),
      caller: v.optional(
        strictObject(
          {
            scopes: v.array(v.picklist(['read', 'call'], 'must be read or call')),
            tiers: v.optional(TokenRecord.entries.tiers, []),
          },
          'must be an object such as {"scopes": ["call"]}; omit it for a caller without credentials',
        ),
      ),
    },
    `must be an object such as ${example}`,
  ),
  v.check(({ call, http }) => !call !== !http, `must have either \`call\` or \`http\`, such as ${example}`),
)

const protocol = { binding: v.string(), version: v.string() }

export const Admission = v.object({
  decision: oneOf(['permitted', 'refused', 'answered'], 'Answered: this host itself responds, with an extended card.'),
  reason: v.optional(text('The error, as the log names it in `error.type`.')),
  detail: v.optional(text('What is wrong on this host; only its log has it.')),
  error: v.optional(v.object({ status: integer, body: anyObject('The response that the caller would get.') })),
  warnings: texts('What `Gate-Warning` would list.'),
  operation: v.optional(text('The operation, as A2A 1.0 names it.')),
  ...v.partial(v.object(protocol)).entries,
  target: v.optional(v.object({ ...protocol, translated: flag('Whether the call would be translated.') })),
  extendedModes: v.optional(flag('Set if the modes of the extended card that the caller may read decided.')),
  notChecked: list(v.picklist(['task-owner', 'extended-card']), 'What only a real call shows.'),
})

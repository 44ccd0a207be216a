import { vi } from 'vitest'
import type { A2ACall } from '../../src/a2a/operations.ts'
import type { AnswerPlace } from '../../src/a2a/read-result.ts'
import type { Authentication } from '../../src/auth/principal.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import type { Observations } from '../../src/card/model/observed-calls.ts'
import { permit } from '../../src/gateway/gate/admit.ts'
import type { GateWarning, Permitted } from '../../src/gateway/gate/exchange.ts'
import { ResponseCheck } from '../../src/gateway/responses/response-check.ts'
import { sendObservations } from '../../src/registry/edge/observed-calls.ts'
import { callWith, exchangeWith, gateWith, profileWith } from './calls.ts'

/** A call, its caller, and the members of its agent's profile and of its permission that matter to a check. */
export type CheckedCall = Partial<Permitted> & {
  profile?: Partial<CallProfile>
  levels?: Partial<CallProfile['gate']>
  caller?: Authentication
  variables?: Partial<Env>
}

/** A warning about an event, as the log has it. */
export type LoggedWarning = { event: string; detail?: string }

let agents = 0

/** Opens the check of the responses to a call, of an agent of its own, which accepts and produces everything. */
export const openCheck = ({ call, profile, levels, caller, variables, ...permitted }: CheckedCall = {}) => {
  let observations: Observations | undefined
  const recordObservations = async (_: string, sent: Observations) => {
    observations = sent
  }
  const logged: LoggedWarning[] = []
  vi.spyOn(console, 'info').mockImplementation(line => {
    const { 'calling_card.warnings': event, 'calling_card.detail': detail } = JSON.parse(line)
    logged.push({ event, detail })
  })
  const env = { ...variables, REGISTRY: { getByName: () => ({ recordObservations }) } } as unknown as Env
  const gate = { ...profileWith().gate, ...levels }
  const checking = gateWith({ gate, ...profile }, env, `checked-${agents++}`)
  const received: A2ACall = call ?? callWith({ id: 7 })
  const exchange = exchangeWith(checking, received)
  if (caller) exchange.caller = caller
  const check = new ResponseCheck(exchange, { ...permit(checking, received), ...permitted })
  return {
    check,
    /** Checks a text that the agent responds with, as a later event of a stream or in another place. */
    read: async (text: string, place: AnswerPlace = 'response') => check.check(text, place, 200),
    /** Returns the warnings about a response, then those about events. */
    warnings: (): (GateWarning | LoggedWarning)[] => [...exchange.warnings, ...logged],
    /** Returns what was observed of the agent since the last time. */
    observe: async (): Promise<Observations | undefined> => {
      observations = undefined
      await sendObservations(checking.id, env)
      return observations
    },
  }
}

import { type Json, type JsonObject, jsonEntries } from '../json/index.ts'
import { isPlainObject } from './jsonrpc.ts'
import { foldName, isFreeForm } from './message.ts'
import type { A2ACall } from './operations.ts'

/** In folded form. */
const ROUTING_PARAMETERS: readonly string[] = ['tenant', 'agentname']

/**
 * Returns a call without the tenant and agent name of its caller, which 1.0 has in push configurations too. Where this host's own
 * credentials or its record of owners decide what a caller reaches, the card alone selects the tenant: otherwise a caller could
 * choose another one's.
 */
export const dropRoutingParams = (call: A2ACall): A2ACall => {
  const { params, sources } = call
  return {
    ...call,
    params: withoutRouting(params),
    ...(sources && {
      sources: {
        ...sources,
        query: Object.fromEntries(Object.entries(sources.query).filter(([name]) => !isRoutingParam(name))),
        body: withoutRouting(sources.body),
      },
    }),
  }
}

const isRoutingParam = (name: string): boolean => ROUTING_PARAMETERS.includes(foldName(name))

const withoutRouting = (object: JsonObject): JsonObject =>
  Object.fromEntries(
    jsonEntries(object).flatMap(([name, value]) => {
      if (isRoutingParam(name)) return []
      return [[name, isFreeForm(foldName(name)) ? value : withoutNestedRouting(value)]]
    }),
  )

const withoutNestedRouting = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(withoutNestedRouting)
  return isPlainObject(value) ? withoutRouting(value) : value
}

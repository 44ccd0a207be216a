import * as v from 'valibot'
import { endpoints } from './endpoints.ts'
import type { ApiResponse, EndpointName } from './index.ts'

/**
 * Checks whether a response has a status and a shape of its endpoint. A host of a later version may have further
 * members, and further words of an enumeration; none that every object has as a member, as tables of words do not have.
 */
export const isExpected = (name: EndpointName, { status, body }: ApiResponse): boolean => {
  const row: Readonly<Record<number, v.GenericSchema | readonly [v.GenericSchema] | undefined>> = endpoints[name]
  if (!Object.hasOwn(row, status)) return false
  const shape = row[status]
  if (shape === undefined) return true
  const { issues = [] } = v.safeParse('kind' in shape ? shape : v.array(shape[0]), body)
  return issues.every(({ type, input }) => type === 'picklist' && typeof input === 'string' && !(input in {}))
}

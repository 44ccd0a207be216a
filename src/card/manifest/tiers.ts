import * as v from 'valibot'
import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { formatPointer } from '../../json/pointer.ts'
import type { Overlay } from '../compile/overlay.ts'
import { baseTier } from '../model/base-tier.ts'
import { never, open } from '../model/schema.ts'

const most = 16
const form = /^[a-z][a-z0-9-]{0,31}$/
const badName = 'is no name for a tier: use 1 to 32 lower-case letters, digits and hyphens, beginning with a letter'
const takenName = `is the tier of \`extended\` itself: give this one another name`

/** An object that maps names of tiers, the lowest first, to values of one schema. */
export const tierMap = <Value extends v.GenericSchema>(value: Value) =>
  v.pipe(
    v.lazy(tiers => {
      const names = Object.keys(isJsonObject(tiers) ? tiers : {})
      return open(
        Object.fromEntries(names.map(name => [name, refusal(name) ?? value])),
        'must be an object of tiers by their names',
      )
    }) as v.LazySchema<v.GenericSchema<Record<string, v.InferInput<Value>>, Record<string, v.InferOutput<Value>>>>,
    v.check(tiers => Object.keys(tiers).length <= most, `must hold at most ${most} tiers`),
  )

const refusal = (name: string) => (name === baseTier ? never(takenName) : form.test(name) ? undefined : never(badName))

/** The tiers of a manifest with the overlay of each, the lowest first: `base` is below all others, and may have none. */
export const tiersOf = (manifest: {
  extended?: JsonObject | undefined
  tiers?: Record<string, JsonObject> | undefined
}): [tier: string, overlay: Overlay | undefined][] => {
  const { extended, tiers = {} } = manifest
  const named = Object.entries(tiers)
  if (extended === undefined && named.length === 0) return []
  return [
    [baseTier, extended && { at: '/extended', patch: extended }],
    ...named.map(([name, patch]): [string, Overlay] => [name, { at: formatPointer('tiers', name), patch }]),
  ]
}

import type { Json } from '../../json/json.ts'

/** What it costs to read a member or an item, and each name of an object where all are asked for. */
const read = 100

/** Arguments that tell what reading them costs: how often a validator goes through them, its schema decides. */
export const watchedArguments = (value: Json, spend: (cost: number) => void): Json => {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get: (target, name) => {
      spend(read)
      const member: Json = Reflect.get(target, name)
      return watchedArguments(member, spend)
    },
    getOwnPropertyDescriptor: (target, name) => {
      spend(read)
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
    ownKeys: target => {
      const names = Reflect.ownKeys(target)
      spend(names.reduce((sum, name) => sum + read + String(name).length, 0))
      return names
    },
  })
}

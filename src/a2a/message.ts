import { isJsonObject, type Json } from '../json/json.ts'
import type { A2ACall } from './call.ts'
import { messageNames, messageParts, partLists, typeNames } from './message-parts.ts'
import { pushConfigurations, pushWrappers } from './push-callbacks.ts'
import type { Refusal } from './verdict.ts'

/** The names of what is looked at in an object, and each by how it looks to who ignores case. */
type Names = { exact: ReadonlySet<string>; folded: ReadonlyMap<string, string> }

/** Some letters are another's capital or small one, but not the other way round: the long s, the sign of Kelvin. */
const fold = (name: string): string => name.toUpperCase().toLowerCase().replaceAll('_', '')

const names = (...exact: string[]): Names => ({
  exact: new Set(exact),
  // Of two spellings that are both A2A's, the first is the one to tell.
  folded: new Map(exact.toReversed().map(name => [fold(name), name])),
})

const ofPush = ['url', ...pushWrappers]
const looked = {
  params: names(...messageNames, 'configuration', 'tenant', 'agentName', ...ofPush),
  message: names(...partLists),
  part: names('kind', 'text', 'data', 'file', ...typeNames),
  configuration: names('acceptedOutputModes', 'accepted_output_modes', ...pushConfigurations),
  push: names(...ofPush),
}

/**
 * Why a call is refused that says in other letters what is checked: some agents read names in any case (Go's and .NET's do), and
 * would find what this host has not looked at.
 */
export const rejectCaseVariants = ({ params }: A2ACall): Refusal | undefined => {
  const found =
    misspelt(params, looked.params, '') ??
    first(messageNames, name => misspelt(params[name], looked.message, `${name}.`)) ??
    misspelt(params.configuration, looked.configuration, 'configuration.') ??
    misspeltBelow(params, '') ??
    misspeltBelow(params.configuration, 'configuration.') ??
    first(messageParts(params), misspeltPart)
  return (
    found && {
      refused: 'invalid-params',
      detail: `\`${found.field.slice(0, 100)}\` ${found.description}.`,
      violations: [found],
    }
  )
}

type Found = { field: string; description: string } | undefined

const first = <Item>(items: readonly Item[], find: (item: Item) => Found): Found => {
  for (const item of items) {
    const found = find(item)
    if (found) return found
  }
  return undefined
}

const misspelt = (object: Json | undefined, { exact, folded }: Names, at: string): Found => {
  if (!isJsonObject(object)) return undefined
  for (const name in object) {
    const meant = exact.has(name) ? undefined : folded.get(fold(name))
    if (meant !== undefined) return { field: at + name, description: `is spelled \`${meant}\` in A2A` }
  }
  return undefined
}

const misspeltPart = (part: Json): Found =>
  isJsonObject(part)
    ? (misspelt(part, looked.part, 'message.parts.') ?? misspelt(part.file, looked.part, 'message.parts.file.'))
    : undefined

const misspeltBelow = (holder: Json | undefined, at: string): Found =>
  isJsonObject(holder)
    ? first(pushWrappers, name => {
        const config = holder[name]
        if (!isJsonObject(config)) return undefined
        const below = `${at}${name}.`
        return misspelt(config, looked.push, below) ?? misspeltBelow(config, below)
      })
    : undefined

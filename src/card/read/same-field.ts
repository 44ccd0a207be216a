import type { JsonObject } from '../../json/json.ts'
import { canonicalKey } from './spelling.ts'

/** Words of several generations for one field, which are read alike whichever of them is there. */
const words = new Map([
  ['security', 'securityRequirements'],
  ['supportedInputModes', 'defaultInputModes'],
  ['supportedOutputModes', 'defaultOutputModes'],
])

const fieldOf = (name: string): string => {
  const proper = canonicalKey(name, 'card')
  return words.get(proper) ?? proper
}

/** The name by which a card has a field already, where it has it by another word or spelling; else the name itself. */
export const findField = (card: JsonObject, name: string): string =>
  Object.hasOwn(card, name) ? name : (Object.keys(card).find(other => fieldOf(other) === fieldOf(name)) ?? name)

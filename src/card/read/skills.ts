import { formatPointer, isJsonObject, type Json, type JsonObject, type Pointer } from '../../json/json.ts'
import { toSlug } from '../model/constants.ts'
import { canonicalizeKeys } from './field-names.ts'
import type { Provenance } from './provenance.ts'
import { readRequirements } from './security-requirements.ts'
import type { SplitSchemes } from './security-schemes.ts'

/** Reads a list of media types, or one written without its list. Odd modes such as "text" are kept. */
export const readModes = (modes: Json, at: Pointer, provenance: Provenance): Json => {
  if (typeof modes !== 'string') return modes
  provenance.noteConversion(at, 'one media type, read as a list')
  provenance.mapWhole(at, at)
  return [modes]
}

/** Reads skills written as objects or as bare names, filling what A2A requires of each. */
export const readSkills = (skills: Json[], split: SplitSchemes, provenance: Provenance): Json[] => {
  const newId = idGiver(skills)
  return skills.map((skill, index) => {
    const at = formatPointer('skills', index)
    if (typeof skill === 'string') {
      provenance.noteConversion(at, 'a bare name, read as a skill')
      provenance.mapWhole(at, at)
      return { id: newId(skill), name: skill, description: skill, tags: ['general'] }
    }
    if (!isJsonObject(skill)) return skill
    const spelled = canonicalizeKeys(skill, 'skill', at, provenance)
    return readLists(readRequirements(fill(spelled, at, newId, provenance), at, split, provenance), at, provenance)
  })
}

/** Gives ids made from names, none twice and none that a skill has already. */
const idGiver = (skills: readonly Json[]): ((name: string) => string) => {
  const taken = new Set<Json | undefined>(skills.map(skill => (isJsonObject(skill) ? skill.id : undefined)))
  return name => {
    const base = toSlug(name, 'skill')
    let id = base
    for (let count = 2; taken.has(id); count++) id = `${base}-${count}`
    taken.add(id)
    return id
  }
}

const fill = (skill: JsonObject, at: Pointer, newId: (name: string) => string, provenance: Provenance): JsonObject => {
  // A name of a wrong type is one error, not three.
  const label = typeof skill.name === 'string' ? skill.name : 'skill'
  const id = skill.id ?? (skill.name === undefined ? undefined : newId(label))
  const name = skill.name ?? id
  const { tags = [] } = skill
  const complete = {
    id,
    name,
    description: skill.description ?? (skill.name === undefined ? id : label),
    tags: Array.isArray(tags) && tags.length === 0 ? ['general'] : tags,
  }
  const given = Object.entries(complete).filter((entry): entry is [string, Json] => entry[1] !== undefined)
  for (const [field, value] of given)
    if (skill[field] !== value) provenance.noteDefault(at + formatPointer(field), `set to ${JSON.stringify(value)}`)
  return { ...skill, ...Object.fromEntries(given) }
}

const readLists = (skill: JsonObject, at: Pointer, provenance: Provenance): JsonObject => {
  const read = { ...skill }
  if (read.examples !== undefined) read.examples = readExamples(read.examples, `${at}/examples`, provenance)
  for (const name of ['inputModes', 'outputModes'])
    if (read[name] !== undefined) read[name] = readModes(read[name], at + formatPointer(name), provenance)
  return read
}

/** Telex writes an example as an exchange of messages; the text of its input is the example that A2A means. */
const readExamples = (examples: Json, at: Pointer, provenance: Provenance): Json => {
  if (!Array.isArray(examples)) return examples
  return examples.map((example, index) => {
    if (!isJsonObject(example)) return example
    provenance.noteConversion(at + formatPointer(index), 'an exchange of messages, read as the text of its input')
    provenance.mapWhole(at + formatPointer(index), at + formatPointer(index))
    const input = isJsonObject(example.input) ? example.input : example
    const parts = Array.isArray(input.parts) ? input.parts : [input]
    const texts = parts.flatMap(part => (isJsonObject(part) && typeof part.text === 'string' ? [part.text] : []))
    return texts.join('\n').trim() === '' ? JSON.stringify(input) : texts.join('\n')
  })
}

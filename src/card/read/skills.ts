import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { type Pointer, pointer } from '../../json/pointer.ts'
import { slug } from '../model/constants.ts'
import { readModes } from './modes.ts'
import type { Reading } from './provenance.ts'
import { readRequirements } from './security-requirements.ts'
import type { SplitSchemes } from './security-schemes.ts'
import { spell } from './spelling.ts'

/** Reads skills written as objects or as bare names, filling what A2A requires of each. */
export const readSkills = (skills: Json[], split: SplitSchemes, reading: Reading): Json[] => {
  const newId = idGiver(skills)
  return skills.map((skill, index) => {
    const at = pointer('skills', index)
    if (typeof skill === 'string') {
      reading.convert(at, 'a bare name, read as a skill')
      reading.made(at, at)
      return { id: newId(skill), name: skill, description: skill, tags: ['general'] }
    }
    if (!isObject(skill)) return skill
    const spelled = spell(skill, 'skill', at, reading)
    return readLists(readRequirements(fill(spelled, at, newId, reading), at, split, reading), at, reading)
  })
}

/** Gives ids made from names, none twice and none that a skill has already. */
const idGiver = (skills: readonly Json[]): ((name: string) => string) => {
  const taken = new Set<Json | undefined>(skills.map(skill => (isObject(skill) ? skill.id : undefined)))
  return name => {
    const base = slug(name, 'skill')
    let id = base
    for (let count = 2; taken.has(id); count++) id = `${base}-${count}`
    taken.add(id)
    return id
  }
}

const fill = (skill: JsonObject, at: Pointer, newId: (name: string) => string, reading: Reading): JsonObject => {
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
    if (skill[field] !== value) reading.fill(at + pointer(field), `set to ${JSON.stringify(value)}`)
  return { ...skill, ...Object.fromEntries(given) }
}

const readLists = (skill: JsonObject, at: Pointer, reading: Reading): JsonObject => {
  const read = { ...skill }
  if (read.examples !== undefined) read.examples = readExamples(read.examples, `${at}/examples`, reading)
  for (const name of ['inputModes', 'outputModes'])
    if (read[name] !== undefined) read[name] = readModes(read[name], at + pointer(name), reading)
  return read
}

/** Telex writes an example as an exchange of messages; the text of its input is the example that A2A means. */
const readExamples = (examples: Json, at: Pointer, reading: Reading): Json => {
  if (!Array.isArray(examples)) return examples
  return examples.map((example, index) => {
    if (!isObject(example)) return example
    reading.convert(at + pointer(index), 'an exchange of messages, read as the text of its input')
    reading.made(at + pointer(index), at + pointer(index))
    const input = isObject(example.input) ? example.input : example
    const parts = Array.isArray(input.parts) ? input.parts : [input]
    const texts = parts.flatMap(part => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
    return texts.join('\n').trim() === '' ? JSON.stringify(input) : texts.join('\n')
  })
}

import { formatPointer, isJsonObject, type Json, type JsonObject, type Pointer } from '../../json/index.ts'
import { toSlug } from '../model/index.ts'
import { canonicalizeKeys } from './field-names.ts'
import type { Provenance } from './provenance.ts'
import { readRequirements } from './security-requirements.ts'
import type { SecurityContext } from './security-schemes.ts'

/** Reads a list of media types, or a single one. Modes such as "text", which are not media types, are kept. */
export const readModes = (modes: Json, pointer: Pointer, provenance: Provenance): Json => {
  if (typeof modes !== 'string') return modes
  provenance.noteConversion(pointer, 'one media type, read as a list')
  provenance.mapWhole(pointer, pointer)
  return [modes]
}

/** Reads skills written as objects or as bare names, and adds what A2A requires of each. */
export const readSkills = (skills: Json[], security: SecurityContext, provenance: Provenance): Json[] => {
  const createId = createSkillIds(skills)
  return skills.map((skill, index) => {
    const pointer = formatPointer('skills', index)
    if (typeof skill === 'string') {
      provenance.noteConversion(pointer, 'a bare name, read as a skill')
      provenance.mapWhole(pointer, pointer)
      return { id: createId(skill), name: skill, description: skill, tags: ['general'] }
    }
    if (!isJsonObject(skill)) return skill
    const canonical = canonicalizeKeys(skill, 'skill', pointer, provenance)
    const filled = fillSkill(canonical, pointer, createId, provenance)
    return readLists(readRequirements(filled, pointer, security, provenance), pointer, provenance)
  })
}

/** Returns a function that makes unique ids from names, none of which a skill has already. */
const createSkillIds = (skills: readonly Json[]): ((name: string) => string) => {
  const makeUnique = createUniqueSlugs(skills.map(skill => (isJsonObject(skill) ? skill.id : undefined)))
  return name => makeUnique(toSlug(name, 'skill'))
}

/** Returns a function that adds a number to slugs that are taken already. Remembers the last number of each. */
export const createUniqueSlugs = (ids: readonly (Json | undefined)[]): ((slug: string) => string) => {
  const taken = new Set(ids)
  const lastNumbers = new Map<string, number>()
  return slug => {
    let number = lastNumbers.get(slug) ?? 1
    let id = slug
    while (taken.has(id)) id = `${slug}-${++number}`
    lastNumbers.set(slug, number)
    taken.add(id)
    return id
  }
}

const fillSkill = (
  skill: JsonObject,
  pointer: Pointer,
  createId: (name: string) => string,
  provenance: Provenance,
): JsonObject => {
  // A name of a wrong type is one error, not three.
  const label = typeof skill.name === 'string' ? skill.name : 'skill'
  const id = skill.id ?? (skill.name === undefined ? undefined : createId(label))
  const { name = id, tags = [] } = skill
  const required = {
    id,
    name,
    description: skill.description ?? (skill.name === undefined ? id : label),
    tags: Array.isArray(tags) && tags.length === 0 ? ['general'] : tags,
  }
  const filled = { ...skill }
  for (const [field, value] of Object.entries(required)) {
    if (value === undefined) continue
    if (skill[field] !== value)
      provenance.noteDefault(pointer + formatPointer(field), `set to ${JSON.stringify(value)}`)
    filled[field] = value
  }
  return filled
}

const readLists = (skill: JsonObject, pointer: Pointer, provenance: Provenance): JsonObject => {
  const read = { ...skill }
  if (read.examples !== undefined) read.examples = readExamples(read.examples, `${pointer}/examples`, provenance)
  for (const name of ['inputModes', 'outputModes'])
    if (read[name] !== undefined) read[name] = readModes(read[name], pointer + formatPointer(name), provenance)
  return read
}

/** Telex writes an example as an exchange of messages. A2A's example is the text of its input. */
const readExamples = (examples: Json, pointer: Pointer, provenance: Provenance): Json => {
  if (!Array.isArray(examples)) return examples
  return examples.map((example, index) => {
    if (!isJsonObject(example)) return example
    const at = pointer + formatPointer(index)
    provenance.noteConversion(at, 'an exchange of messages, read as the text of its input')
    provenance.mapWhole(at, at)
    const input = isJsonObject(example.input) ? example.input : example
    const parts = Array.isArray(input.parts) ? input.parts : [input]
    const texts = parts.flatMap(part => (isJsonObject(part) && typeof part.text === 'string' ? [part.text] : []))
    return texts.join('\n').trim() === '' ? JSON.stringify(input) : texts.join('\n')
  })
}

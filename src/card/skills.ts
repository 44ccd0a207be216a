import { isObject, type Json, type JsonObject } from './json.ts'
import { readModes } from './modes.ts'
import { pointer } from './pointer.ts'
import type { Reading } from './reading.ts'
import { readRequirements } from './security-requirements.ts'
import { slug } from './slug.ts'

/** Reads skills written as objects or as bare names, filling what A2A requires of each. */
export const readSkills = (skills: Json | undefined, reading: Reading): Json | undefined => {
  if (!Array.isArray(skills)) return skills === null ? undefined : skills
  const taken = new Set(skills.map(skill => (isObject(skill) ? skill.id : undefined)))
  const uniqueId = (name: string): string => {
    const base = slug(name, 'skill')
    let id = base
    for (let count = 2; taken.has(id); count++) id = `${base}-${count}`
    taken.add(id)
    return id
  }
  return skills.map((skill, index) => readSkill(skill, pointer('skills', index), uniqueId, reading))
}

const readSkill = (skill: Json, at: string, uniqueId: (name: string) => string, reading: Reading): Json => {
  if (typeof skill === 'string') {
    reading.convert(at, 'a bare name, read as a skill')
    return { id: uniqueId(skill), name: skill, description: skill, tags: ['general'] }
  }
  if (!isObject(skill)) return skill
  const id = skill.id ?? (typeof skill.name === 'string' ? uniqueId(skill.name) : undefined)
  const name = skill.name ?? id
  const filled: JsonObject = {
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name }),
    ...((skill.description ?? name) !== undefined && { description: skill.description ?? (name as Json) }),
    tags: isEmptyList(skill.tags) ? ['general'] : (skill.tags as Json),
  }
  for (const [field, value] of Object.entries(filled))
    if (skill[field] === undefined || (field === 'tags' && isEmptyList(skill[field])))
      reading.fill(at + pointer(field), `set to ${JSON.stringify(value)}`)
  const { security, securityRequirements, examples, inputModes, outputModes, ...rest } = { ...skill, ...filled }
  const requirements = securityRequirements ?? security
  if (securityRequirements === undefined && security !== undefined)
    reading.moved(`${at}/securityRequirements`, `${at}/security`)
  return {
    ...rest,
    ...(examples !== undefined && examples !== null && { examples: readExamples(examples, `${at}/examples`, reading) }),
    ...(inputModes !== undefined &&
      inputModes !== null && { inputModes: readModes(inputModes, `${at}/inputModes`, reading) }),
    ...(outputModes !== undefined &&
      outputModes !== null && { outputModes: readModes(outputModes, `${at}/outputModes`, reading) }),
    ...(requirements !== undefined && { securityRequirements: readRequirements(requirements) }),
  }
}

const isEmptyList = (value: Json | undefined): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

/** Telex writes an example as an exchange of messages; the text of its input is the example that A2A means. */
const readExamples = (examples: Json, at: string, reading: Reading): Json => {
  if (!Array.isArray(examples)) return examples
  return examples.map((example, index) => {
    if (!isObject(example)) return example
    reading.convert(at + pointer(index), 'an exchange of messages, read as the text of its input')
    const input = isObject(example.input) ? example.input : example
    const parts = Array.isArray(input.parts) ? input.parts : [input]
    const texts = parts.flatMap(part => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
    return texts.length > 0 ? texts.join('\n') : JSON.stringify(input)
  })
}

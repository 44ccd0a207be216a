import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { mergePatch } from '../../json/merge-patch.ts'
import { toolIds } from '../read/mcp-tools.ts'
import { Provenance } from '../read/provenance.ts'
import { readSkills } from '../read/skills.ts'

/** Skills with others over them; for each that changed or is new the index of the one that says so; and which say nothing. */
type OverlaidSkills = { skills: Json[]; sources: ReadonlyMap<number, number>; leftOut: number[] }

/**
 * Lays skills over others: one of a known id is patched onto it, any other is added. None can be taken away. Of tools, which
 * are known by their own ids and by those of the skills that they become, there are no others.
 */
export const overlaySkills = (below: readonly Json[], patches: readonly Json[], areTools = false): OverlaidSkills => {
  const skills = [...below]
  const sources = new Map<number, number>()
  const leftOut: number[] = []
  const ids = [...(areTools ? toolIds(below, () => true).entries() : []), ...idsOf(below).entries()]
  const known = new Map(ids.flatMap(([index, id]) => (id === undefined ? [] : [[id, index] as const])))
  for (const [source, patch] of patches.entries()) {
    const [id] = idsOf([patch])
    const there = id === undefined ? undefined : known.get(id)
    if (areTools && there === undefined) {
      leftOut.push(source)
      continue
    }
    const index = there ?? skills.length
    skills[index] = there === undefined ? patch : patched(skills[index] as Json, patch)
    sources.set(index, source)
  }
  return { skills, sources, leftOut }
}

/** The ids of skills as they are read: some dialects give none, or names alone. */
const idsOf = (skills: readonly Json[]): (string | undefined)[] =>
  readSkills([...skills], new Map(), new Provenance()).map(skill =>
    isJsonObject(skill) && typeof skill.id === 'string' ? skill.id : undefined,
  )

/** A bare name says nothing more of a skill that is there; and whatever is patched, the id stays. */
const patched = (skill: Json, patch: Json): Json => {
  if (!isJsonObject(patch)) return skill
  const object: JsonObject = isJsonObject(skill) ? skill : { name: skill }
  const merged = mergePatch(object, patch) as JsonObject
  return object.id === undefined ? merged : { ...merged, id: object.id }
}

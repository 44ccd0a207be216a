import type { Json, JsonObject } from '../../json/index.ts'
import type { Form } from '../forms.ts'

/**
 * What a form cannot express: where it was, such as `status.message.parts[0].filename`, or `message.*` for a member that the
 * specification does not know.
 */
export type Loss = string

/** How objects are translated: the form that they are in, the one that they get, and what was lost so far. */
export type Translation = { readonly from: Form; readonly to: Form; readonly losses: Loss[] }

/** Returns an object without the members that are undefined. */
export const definedMembers = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

/** Whether a member has a value. Null, and in ProtoJSON an empty text, is like its absence. */
export const isPresent = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== ''

/** The names that two forms of an object have for its members. */
type KnownNames = { from: ReadonlySet<string>; to: ReadonlySet<string> }

/**
 * Adds the members of an object that its form does not know to its translation. Those whose names mean something in the other form
 * are left out, and reported as a loss. Where ProtoJSON has a `kind`, readers of 0.3 would take it for the form with `kind`.
 */
export const keepUnknown = (
  object: JsonObject,
  translated: JsonObject,
  { from, to }: KnownNames,
  lose: (name: string) => void,
): void => {
  for (const [name, value] of Object.entries(object)) {
    if (from.has(name)) continue
    if (to.has(name) || name === 'kind' || name === '__proto__') lose(name)
    else translated[name] = value
  }
}

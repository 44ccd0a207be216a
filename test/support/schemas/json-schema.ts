/** A JSON Schema, as an object of keywords. */
export type Schema = { readonly [keyword: string]: unknown }

type Members = Readonly<Record<string, Schema>>

export const string: Schema = { type: 'string' }
export const boolean: Schema = { type: 'boolean' }

/** An object whose members the specification leaves to the author. */
export const anyObject: Schema = { type: 'object' }

/** One of a few strings. */
export const oneOf = (...values: string[]): Schema => ({ enum: values })

export const array = (items: Schema): Schema => ({ type: 'array', items })
export const nonEmptyArray = (items: Schema): Schema => ({ type: 'array', items, minItems: 1 })

/** An object whose keys are names that the author chooses. */
export const map = (values: Schema): Schema => ({ type: 'object', additionalProperties: values })

/** An object that allows no other members. */
export const object = (required: Members, optional: Members = {}): Schema => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
})

/** An object with exactly one of the members: a `oneof` of Protocol Buffers. */
export const exactlyOne = (members: Members): Schema => ({
  ...object({}, members),
  oneOf: Object.keys(members).map(name => ({ required: [name] })),
})

/** Returns the same schema for a reader that ignores unknown members. */
export const allowUnknownMembers = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema, (key, value) => (key === 'additionalProperties' && value === false ? true : value)))

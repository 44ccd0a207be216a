import * as v from 'valibot'
import type { Json } from '../../json/index.ts'
import { looseObject } from './validation.ts'

/** The presence of a member in a2a.proto: REQUIRED; with presence of its own; or plain, left out at its default. */
type Presence = 'required' | 'optional' | 'plain'

/** The facts about a member that code of this host needs. */
export type Facts = {
  /** Its names in other dialects. In A2A 0.3, its form differs as well; that of a scheme is the `type`. */
  in?: Partial<Record<'0.3' | 'gopherhole' | 'shaman', string>>
  /** Tests values of another name that is ambiguous between dialects. */
  accepts?: (value: Json) => boolean
  /**
   * Text is read by people, and by models that choose between agents and skills: no call depends on it. A link is text
   * and leads to a page or an image. An id would identify something else if a URL in it were rewritten.
   */
  is?: 'text' | 'link' | 'id'
  /** The URLs in it are of others than the agent, or signed: not rewritten. */
  keepsUrls?: true
  /** What it contains, if it is not validated. */
  shape?: v.GenericSchema
}

/** The members of an object, in the order of a2a.proto, which has those with a presence. A map has one for all, `*`. */
export type Members = ReadonlyMap<string, Member>

/** A member of an object in a card. Without a presence, only other dialects or versions have it. */
export type Member<Schema extends v.GenericSchema | undefined = v.GenericSchema | undefined> = Facts & {
  presence: Presence | undefined
  /** The schema by which this host validates it, if it does. */
  schema: Schema
  /** The description that editors show. */
  about: string | undefined
  /** The type of its schema, such as `array` or `record`. */
  type: string | undefined
  /** The members of the object in it, or of each in its list. */
  inner: Members | undefined
}

/** Creates a member whose schema is as strict as this host is, whatever its presence. */
export const member = <Schema extends v.GenericSchema | undefined>(
  presence: Presence | undefined,
  schema: Schema,
  about?: string,
  facts?: Facts,
): Member<Schema> => ({ ...facts, presence, schema, about, ...shapeOf(facts?.shape ?? schema) })

/** Creates a REQUIRED member. */
export const required = <Schema extends v.GenericSchema>(schema: Schema, about?: string, facts?: Facts) =>
  member('required', schema, about, facts)

const omissible =
  (presence: Presence) =>
  <Schema extends v.GenericSchema>(schema: Schema, about?: string, facts?: Facts) =>
    member(presence, v.optional(schema), about, facts)

/** Creates a member with presence of its own: one that is `optional`, or a message. */
export const optional = omissible('optional')

/** Creates a member that ProtoJSON leaves out at its default value: "", false, or without items or members. */
export const plain = omissible('plain')

/** Creates a member of other dialects or versions, which the canonical card does not have. */
export const known = (about?: string, facts?: Facts) => member(undefined, undefined, about, facts)

type Rows = Readonly<Record<string, Member>>

type Entries<Table extends Rows> = {
  [Name in keyof Table as Table[Name]['schema'] extends v.GenericSchema ? Name : never]: NonNullable<
    Table[Name]['schema']
  >
}

const messages = new WeakMap<object, Members>()

/** Creates the schema of an object from the table of its members. */
export const message = <Table extends Rows>(rows: Table, text?: string) => {
  const entries = Object.entries(rows).flatMap(([name, { schema }]) => (schema ? [[name, schema] as const] : []))
  const schema = looseObject(Object.fromEntries(entries) as Entries<Table>, text)
  messages.set(schema, new Map(Object.entries(rows)))
  return schema
}

/** Returns the members of the objects that a schema describes. */
export const membersOf = (schema: v.GenericSchema): Members => shapeOf(schema).inner ?? new Map()

/** What a schema of valibot may be made of. */
type Parts = { type: string; pipe?: readonly [v.GenericSchema]; getter?: (input: unknown) => v.GenericSchema } & {
  [Name in 'wrapped' | 'item' | 'value']?: v.GenericSchema
}

const shapeOf = (schema: v.GenericSchema | undefined): Pick<Member, 'type' | 'inner'> => {
  if (schema === undefined) return { type: undefined, inner: undefined }
  const members = messages.get(schema)
  if (members !== undefined) return { type: 'object', inner: members }
  const { type, pipe, wrapped, item, value, getter }: Parts = schema
  const same = pipe?.[0] ?? wrapped ?? getter?.({})
  if (same !== undefined) return shapeOf(same)
  const inner = shapeOf(item ?? value).inner
  return { type, inner: value && inner ? new Map([['*', member('optional', value)]]) : inner }
}

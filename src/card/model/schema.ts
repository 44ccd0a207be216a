import * as v from 'valibot'
import { formatPointer, isJsonObject, type Json, type Pointer } from '../../json/json.ts'
import type { CardError } from './report.ts'

/** Text that may be empty. */
export const anyText = v.string('must be a string')

/** Text of a form. */
export const matches = (form: RegExp, message: string) => v.check<string, string>(value => form.test(value), message)

/** A list that is not empty. */
export const some = <Item extends v.GenericSchema>(list: v.ArraySchema<Item, string>, message: string) =>
  v.pipe(
    list,
    v.check(({ length }) => length > 0, message),
  )

/** One of a few words. */
export const oneOf = <const Word extends string>(...words: Word[]) =>
  v.custom<Word>(value => words.includes(value as Word), `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`)

/** Text that is not empty. */
export const text = v.pipe(anyText, matches(/\S/, 'must not be empty'))

/** Text of one line. */
export const line = v.pipe(text, matches(/^\P{Cc}*$/u, 'must be one line, without control characters'))

/** True or false. */
export const flag = v.custom<boolean>(value => typeof value === 'boolean', 'must be true or false')

/** Whatever there is. */
export const anything = v.custom<Json>(() => true)

/** Nothing that there is. */
export const never = (message: string) => v.custom<never>(() => false, message)

/** A list. */
export const list = <Item extends v.GenericSchema>(item: Item, message = 'must be a list') => v.array(item, message)

/** A list of lines. */
export const lines = list(line, 'must be a list of strings')

/** An object with the members given, and any others; valibot takes a list for one without members. */
export const open = <Entries extends v.ObjectEntries>(entries: Entries, message = 'must be an object') =>
  v.lazy(value => (isJsonObject(value) ? v.looseObject(entries) : never(message))) as v.LazySchema<
    v.LooseObjectSchema<Entries, undefined>
  >

/** An object with the members given, and no others; valibot takes a list for one. */
export const closed = <Entries extends v.ObjectEntries>(entries: Entries, message: string) =>
  v.lazy(value => (isJsonObject(value) ? v.strictObject(entries) : never(message))) as v.LazySchema<
    v.StrictObjectSchema<Entries, undefined>
  >

/** An object that maps names to values of one schema. */
export const map = <Value extends v.GenericSchema>(value: Value, message = 'must be an object') =>
  v.lazy(object =>
    open(Object.fromEntries(Object.keys(isJsonObject(object) ? object : {}).map(name => [name, value])), message),
  ) as v.LazySchema<v.GenericSchema<Record<string, v.InferInput<Value>>, Record<string, v.InferOutput<Value>>>>

/** A link for people: where it names a scheme, http or https. */
export const link = v.pipe(
  anyText,
  v.check(value => !/^[a-z][a-z0-9+.-]*:/i.test(value) || isHttp(value), 'must be an http or https URL'),
)

/** An absolute http or https URL without credentials. */
export const HttpUrl = v.pipe(
  v.string('must be a URL, as a string'),
  matches(
    /^(?!\$|[A-Z0-9_ -]*$)[^{}<>]*$/,
    "looks like a placeholder: put the agent's own address here, such as https://agent.example.com/a2a",
  ),
  matches(/^[a-z][a-z0-9+.-]*:/i, 'is relative: it must be absolute, such as https://agent.example.com/a2a'),
  v.check(isHttp, 'must be an absolute URL with http or https, such as https://agent.example.com/a2a'),
  v.check(value => !hasUserInfo(value), 'must not hold a user name or password'),
)

function isHttp(value: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}<>{}\\]+$/iu.test(value) && URL.canParse(value)
}

function hasUserInfo(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && (url.username !== '' || url.password !== '')
}

/** The name of a host; `*` is any other. */
export const hostname = v.pipe(
  v.string('must be a host name'),
  matches(
    /^(?:\*|(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*)$/,
    'must be a host name in lower case, without scheme, port or path; or "*"',
  ),
)

/** A schema's findings as errors for people, each at the place that `locate` gives for its pointer. */
export const toCardErrors = (
  issues: readonly v.BaseIssue<unknown>[],
  locate: (place: Pointer) => Pointer,
): CardError[] =>
  dedupeByPointer(
    issues.map(issue => {
      const path = (issue.path ?? []).map(item => String(item.key))
      return { pointer: locate(formatPointer(...path)), message: messageFor(issue, path) }
    }),
  )

/** The errors without those at a place that an earlier one has: what is not a URL is not a bad URL besides. */
export const dedupeByPointer = (errors: readonly CardError[]): CardError[] => {
  const seen = new Set<Pointer>()
  return errors.filter(error => !seen.has(error.pointer) && seen.add(error.pointer))
}

const messageFor = (issue: v.BaseIssue<unknown>, path: readonly string[]): string => {
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return `"${path.at(-1)}" is not a field of a manifest${path.length > 1 ? `'s ${path[0]}` : ''}`
  return issue.received === 'undefined' ? 'is missing' : issue.message
}

import { isJsonObject, isPlainObject, type JsonObject } from '../../json/index.ts'
import type { FormMember, MemberName, ResultName, Shape } from './forms.ts'
import { forEachShape, NO_ROLE, readMember, readProto, resultKinds } from './forms.ts'
import { objectNames } from './table.ts'

/** Returns what is wrong with a value: a path and what must be there, as in `.status.state must be a task state`. */
export type Check = (value: unknown) => string | undefined

const check =
  (description: string, isValid: (value: unknown) => boolean): Check =>
  value =>
    isValid(value) ? undefined : ` must be ${description}`

const text = check('a string', value => typeof value === 'string')
const nonEmpty = check('a string that is not empty', value => typeof value === 'string' && value !== '')
const integer = check('an integer', value => Number.isInteger(value))
const someParts = check('a list of at least one part', value => Array.isArray(value) && value.length > 0)
const flag = check('true or false', value => typeof value === 'boolean')
const object = check('an object', isPlainObject)

const oneOf = (description: string, values: readonly unknown[]): Check => {
  const known = new Set(values)
  return check(description, value => known.has(value))
}

const list =
  (item: Check): Check =>
  value => {
    if (!Array.isArray(value)) return ' must be a list'
    for (let index = 0; index < value.length; index++) {
      const fault = item(value[index])
      if (fault !== undefined) return `[${index}]${fault}`
    }
    return undefined
  }

const both =
  (first: Check, second: Check): Check =>
  value =>
    first(value) ?? second(value)

type Field = MemberName & { checkMember: Check; isRequired: boolean }

/** Checks the members of an object. Unknown members are ignored, and null counts as absent. */
const objectWith =
  (...fields: readonly Field[]): Check =>
  value => {
    if (!isPlainObject(value)) return ' must be an object'
    for (const field of fields) {
      const member = readMember(value, field)
      if (member === undefined && !field.isRequired) continue
      const fault = field.checkMember(member)
      if (fault !== undefined) return `.${field.key}${fault}`
    }
    return undefined
  }

const optional = (key: string, checkMember: Check): Field => ({ key, alias: key, isRequired: false, checkMember })
const required = (key: string, checkMember: Check): Field => ({ key, alias: key, isRequired: true, checkMember })

/** Checks that an object has exactly one of some members. */
const hasOne =
  (members: readonly MemberName[]): Check =>
  value => {
    let count = 0
    for (const member of members) if (readMember(value as JsonObject, member) !== undefined) count++
    return count === 1 ? undefined : ` must have exactly one of ${members.map(({ key }) => key).join(', ')}`
  }

// Errors

/** Checks an error object of JSON-RPC, or the `error` of a google.rpc.Status. */
export const checkError: Check = objectWith(required('code', integer), required('message', text))

const checkErrorMessage = objectWith(required('message', text))

/** Checks an error of 0.3 over HTTP: an error object of JSON-RPC, of which Python's server sends only the message. */
export const checkBareError: Check = value =>
  (isJsonObject(value) && value.code === undefined ? checkErrorMessage : checkError)(value)

/** Checks an Agent Card, whose other fields its own reader checks. */
export const checkCard: Check = objectWith(required('name', text))

// Objects

/**
 * Builds the checks of a form: of the objects that a result can be, and of a message of a caller. The clients of JSON
 * with `kind` require every member that the schema requires, but for the `kind` of what is inside a result. Writers of
 * ProtoJSON leave out what is empty, and readers accept that.
 */
const createChecks = (shape: Shape) => {
  const { hasKinds, members } = shape
  const roles = valuesOf(shape, 'roles')
  const roleNames = shape.roles.slice(1).join(' or ')
  const types = new Map<string, Check>([
    ...['text', 'time', 'contextId', 'taskId', 'id'].map(name => [name, text] as const),
    ...(hasKinds ? ['flag', 'final'] : ['flag']).map(name => [name, flag] as const),
    ...(shape.data === 'any' ? ['object'] : ['object', 'data']).map(name => [name, object] as const),
    ['role', oneOf(roleNames, hasKinds ? roles : [NO_ROLE, 0, ...roles])],
    ['state', oneOf('a task state', valuesOf(shape, 'taskStates'))],
  ])
  const fieldOf = ({ key, alias, is, ...member }: FormMember): Field[] => {
    const isId = member.required && (is === 'taskId' || (is === 'id' && !hasKinds))
    const checkItem = isId ? nonEmpty : types.get(is ?? '')
    const isRequired = member.required === true || (hasKinds && member.empty !== undefined)
    return checkItem ? [{ key, alias, isRequired, checkMember: member.list ? list(checkItem) : checkItem }] : []
  }
  const fieldsOf = (given: Iterable<FormMember>) =>
    [...given].sort((one, other) => rankOf(one) - rankOf(other)).flatMap(fieldOf)
  const kindOf = (name: ResultName) => oneOf(`"${resultKinds[name]}"`, [resultKinds[name]])
  types.set('part', createPartCheck(shape, fieldsOf))
  for (const name of objectNames.slice(1)) {
    const ownKind = hasKinds && name === 'message' ? [optional('kind', kindOf(name))] : []
    types.set(name, objectWith(...fieldsOf(members[name].values()), ...ownKind))
  }
  const objectOf = (name: string): Check => types.get(name) ?? object
  const resultOf = (name: ResultName) =>
    hasKinds ? both(objectWith(required('kind', kindOf(name))), objectOf(name)) : objectOf(name)
  const sent = objectWith(required('role', oneOf(roleNames, roles)), required(shape.parts, someParts))
  return {
    task: resultOf('task'),
    message: resultOf('message'),
    statusUpdate: resultOf('statusUpdate'),
    artifactUpdate: resultOf('artifactUpdate'),
    pushConfig: shape.nestsPushConfig ? objectOf('taskPushConfig') : both(objectOf('pushConfig'), namesTaskOrItself),
    // A caller may leave out its `kind`, but not its role and, in ProtoJSON, its parts.
    sentMessage: hasKinds ? objectOf('message') : both(objectOf('message'), sent),
  }
}

/** Returns the values of an enumeration. Readers of ProtoJSON accept their numbers, too. */
const valuesOf = (shape: Shape, name: 'roles' | 'taskStates') =>
  shape[name].flatMap((each, number) => (each === undefined ? [] : shape.hasKinds ? [each] : [each, number]))

/** Ranks the members of an object in the order in which they are checked. */
const rankOf = ({ required, empty }: FormMember): number => (required ? 0 : empty === undefined ? 2 : 1)

/** Rejects a configuration with neither a task nor an id: a card has a URL, too. */
const namesTaskOrItself: Check = value =>
  nonEmpty(readProto(value as JsonObject, 'taskId')) && objectWith(required('id', nonEmpty))(value)

/** Builds the check of a part, which has exactly one content. */
const createPartCheck = (shape: Shape, fieldsOf: (members: Iterable<FormMember>) => Field[]): Check => {
  const { hasKinds, contents, data, file } = shape
  const all = [...shape.members.part.values()]
  const inFile = all.flatMap(each => (each.inner ? { ...each, alias: hasKinds ? each.key : each.alias } : []))
  const checkFile = both(objectWith(...fieldsOf(inFile)), hasOne(inFile.filter(({ isContent }) => isContent)))
  const own = fieldsOf(all.filter(({ inner }) => inner === undefined))
  const fields = file === undefined ? own : [...own, optional(file, checkFile)]
  if (!hasKinds) {
    const names = new Set(all.flatMap(({ isContent, inner, key }) => (isContent ? [inner ?? key] : [])))
    const hasContent = hasOne([...names].map(key => ({ key, alias: key })))
    // Null is a value of `data`, too.
    const isNull = (value: unknown) => data === 'any' && (value as JsonObject).data === null
    return both(objectWith(...fields), value => (isNull(value) ? undefined : hasContent(value)))
  }
  const others = fields.filter(({ key }) => !contents.includes(key))
  const ofContents = fields.filter(({ key }) => contents.includes(key))
  const checksOfKinds = new Map<unknown, Check>(
    ofContents.map(field => [field.key, objectWith({ ...field, isRequired: true }, ...others)]),
  )
  const kind = optional('kind', oneOf(contents.join(', ').replace(/, (\w+)$/, ' or $1'), contents))
  return both(objectWith(kind), value => {
    const part = value as JsonObject
    // Hand-written agents leave out the `kind`.
    const name = part.kind ?? contents.find(each => (part[each] ?? null) !== null)
    return name === undefined ? ` must have one of ${contents.join(', ')}` : checksOfKinds.get(name)?.(value)
  })
}

/** The checks of every form. */
export const checks = forEachShape(createChecks)

import { isMap, isPair, isScalar, isSeq, parseDocument, visit, type YAMLMap } from 'yaml'
import { asList, asObject, isJsonObject, type Json, type JsonObject } from '../../../json/index.ts'

/** What may be written in place of a part of a text. */
export type Completion = {
  from: number
  to: number
  options: { label: string; insert: string; description?: string }[]
}

/** Stands in the text for what is being written. */
const CARET = '__caret__'

/**
 * Returns the members that a JSON Schema allows at an offset of a text and that are not written yet, or the values of
 * an enumeration: those that begin with the word there. Without a word, they are returned only if `isAsked`. The text
 * is YAML, which includes JSON, and need not be complete.
 */
export const complete = (text: string, caret: number, schema: JsonObject, isAsked: boolean): Completion | undefined => {
  const [, quote = '', word = ''] = /(["']?)([\w$.+/-]*)$/.exec(text.slice(0, caret)) ?? []
  const [rest = '', end = ''] = /^[\w$.+/-]*(["']?)/.exec(text.slice(caret)) ?? []
  const from = caret - word.length - quote.length
  const to = caret + rest.length - (quote === '' ? end.length : 0)
  if (!isAsked && word === '') return undefined
  const hasColon = /^[ \t]*:/.test(text.slice(to))
  const place = (inserted: string): Place | undefined => findPlace(text.slice(0, from) + inserted + text.slice(to))
  const isValue = /[\w"']:[ \t]*$/.test(text.slice(0, from))
  const asKey = isValue ? undefined : place(hasColon ? CARET : `${CARET}: null`)
  const { path, map } = asKey ?? place(CARET) ?? {}
  if (!path) return undefined
  const schemas = path.reduce(
    (found, token) => found.flatMap(each => descend(each, token, schema)),
    [rootOf(schema, text)],
  )
  const all = schemas.flatMap(each => branches(each, schema))
  const isJson = quote !== '' || /^\s*[{[]/.test(text)
  const indent = ' '.repeat(from - (text.lastIndexOf('\n', from - 1) + 1) + 2)
  const found = new Map<string, Completion['options'][number]>()
  if (asKey && map) {
    const written = new Set(map.items.map(({ key }) => String(isScalar(key) ? key.value : key)))
    for (const [name, member] of all.flatMap(each => Object.entries(asObject(each.properties)))) {
      if (written.has(name) || found.has(name) || !isJsonObject(member)) continue
      const types = branches(member, schema).flatMap(({ type }) => [type ?? []].flat())
      const isBlock = !isJson && !map.flow
      const after =
        isBlock && types[0] === 'object' ? `:\n${indent}` : isBlock && types[0] === 'array' ? `:\n${indent}- ` : ': '
      const insert = (isJson ? JSON.stringify(name) : name) + (hasColon ? '' : after)
      found.set(name, { label: name, insert, ...describe(member) })
    }
  } else
    for (const each of all)
      for (const value of valuesOf(each)) {
        const label = String(value)
        const isPlain = typeof value !== 'string' || (!isJson && /^[A-Za-z][\w+.-]*$/.test(value))
        if (!found.has(label))
          found.set(label, { label, insert: isPlain ? label : JSON.stringify(value), ...describe(each) })
      }
  const start = word.toLowerCase()
  const options = [...found.values()].filter(({ label }) => label.toLowerCase().startsWith(start))
  return options.some(({ label }) => isAsked || label !== word) ? { from, to, options } : undefined
}

/** Where the caret is: the names and positions that lead there, and the object whose member it is. */
type Place = { path: string[]; map?: YAMLMap }

const findPlace = (text: string): Place | undefined => {
  let place: Place | undefined
  visit(parseDocument(text, { logLevel: 'silent', uniqueKeys: false }), {
    Scalar: (key, { value }, ancestors) => {
      if (value !== CARET) return undefined
      const inner = ancestors.filter(each => isPair(each) || isSeq(each))
      const path = inner.map(each => (isPair(each) ? String(isScalar(each.key) ? each.key.value : '') : '0'))
      const map = ancestors.at(-2)
      if (key !== 'key') place = { path }
      else if (isMap(map)) place = { path: path.slice(0, -1), map }
      return visit.BREAK
    },
  })
  return place && (place.map ? place : { path: place.path })
}

/** Returns the schema of a manifest, or of a bare card, which has its name at the top. */
const rootOf = (schema: JsonObject, text: string): JsonObject => {
  const isCard = /^["']?name["']?:/m.test(text) && !/^["']?card["']?:/m.test(text)
  return asObject((isCard ? schema.else : schema.then) ?? schema)
}

/** Returns a schema with all that it refers to, and all of its alternatives. */
const branches = (schema: Json | undefined, root: JsonObject): JsonObject[] => {
  if (!isJsonObject(schema)) return []
  const { $ref, allOf, anyOf, oneOf } = schema
  const target = typeof $ref === 'string' ? asObject(root.definitions)[$ref.replace('#/definitions/', '')] : undefined
  const parts = [target, ...[allOf, anyOf, oneOf].flatMap(each => asList(each))]
  return [schema, ...parts.flatMap(each => branches(each, root))]
}

const descend = (schema: JsonObject, token: string, root: JsonObject): JsonObject[] =>
  branches(schema, root).flatMap(({ properties, additionalProperties, items }) => {
    const next = asObject(properties)[token] ?? (token === '0' && items !== undefined ? items : additionalProperties)
    return isJsonObject(next) ? [next] : []
  })

const valuesOf = ({ enum: values, const: constant, type }: JsonObject): Json[] =>
  Array.isArray(values) ? values : constant !== undefined ? [constant] : type === 'boolean' ? [true, false] : []

const describe = ({ description }: JsonObject) => (typeof description === 'string' ? { description } : {})

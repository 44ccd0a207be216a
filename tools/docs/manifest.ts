import { createManifestSchema } from '../../src/card/manifest/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../../src/json/index.ts'
import { code, type Page, table, wrap } from './page.ts'

/** The page of the fields of manifests and cards. */
export const createManifest = (): Page => {
  const { then: manifest, definitions } = createManifestSchema()
  return {
    name: 'manifest',
    title: 'Manifest',
    contents: 'every field of a manifest, and the fields of a card',
    parts: [
      wrap(
        'A manifest is a card with the settings by which a host serves it; a bare card is one, too. `*` is any name or ' +
          'index. The same descriptions are in the JSON Schema at `GET /schema/manifest.json`, with which editors check ' +
          'files: `# yaml-language-server: $schema=https://cards.example.com/schema/manifest.json` as the first line of a ' +
          'YAML file, or `"$schema"` in JSON.',
      ),
      table(['field', 'type', 'default', 'meaning'], listFields(manifest).map(toRow)),
      '## Fields of a card',
      'Those of A2A and GopherHole. Every other dialect has some of its own; a host serves all fields.',
      table(
        ['field', 'meaning'],
        listFields(isJsonObject(definitions) ? definitions.card : undefined).map(([path, { description }]) => [
          code(path),
          String(description),
        ]),
      ),
    ],
  }
}

const toRow = ([path, schema]: Field): string[] => {
  const { description, default: fallback = [] } = schema
  const isPlain = !Array.isArray(fallback) && !isJsonObject(fallback)
  return [code(path), typeOf(schema), isPlain ? code(String(fallback)) : '', String(description)]
}

type Field = [path: string, schema: JsonObject]

/** Returns the fields of a schema that are described, with the fields in them. */
const listFields = (schema: Json | undefined, path = ''): Field[] => {
  if (!isJsonObject(schema)) return []
  const { properties, additionalProperties, items, anyOf } = schema
  const inner = (name: string) => (path === '' ? name : `${path}.${name}`)
  const found: Field[] = [
    ...(path === '' || path.endsWith('*') || schema.description === undefined ? [] : [[path, schema] as Field]),
    ...Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, each]) =>
      listFields(each, inner(name)),
    ),
    ...listFields(additionalProperties, inner('*')),
    ...listFields(items, inner('*')),
    ...(Array.isArray(anyOf) ? anyOf : []).flatMap(choice => listFields(choice, path)),
  ]
  return [...new Map(found.toReversed())].toReversed()
}

/** Describes the values that a schema accepts. */
const typeOf = (schema: Json | undefined): string => {
  if (!isJsonObject(schema)) return ''
  const { type, enum: values, const: value, anyOf, items, minimum, maximum } = schema
  if (Array.isArray(values)) return values.map(each => code(String(each))).join(', ')
  if (value !== undefined) return code(String(value))
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(typeOf))].filter(Boolean).join(' or ')
  if (type === 'array') return /^\w+$/.test(typeOf(items)) ? `list of ${typeOf(items)}s` : 'list'
  if (type === 'integer') return `integer from ${minimum} to ${maximum}`
  return String(Array.isArray(type) ? type[0] : (type ?? 'any'))
}

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { Json } from '../../src/json/json.ts'

const shared = join(import.meta.dirname, '../../../shared')
const read = (path: string): string => readFileSync(join(shared, path), 'utf8')

/** Whether the reference schemas and the corpus are there, beside the project. */
export const hasReference = existsSync(join(shared, 'corpus/manifest.json'))

/** What a test that needs them says where they are not. */
export const skipped = hasReference ? '' : ' (skipped: ../shared with the schemas and the corpus is not there)'

/** One file of the corpus: a document that was found in public where a card should be. */
export type Found = { file: string; dialect: string; text: string }

/** The corpus; empty where it is not there. */
export const corpus: Found[] = hasReference
  ? (JSON.parse(read('corpus/manifest.json')) as Found[]).map(({ file, dialect }) => ({
      file,
      dialect,
      text: read(`corpus/${file}`),
    }))
  : []

const validators = new Map<string, ValidateFunction>()

/** What an official schema finds wrong with a card. */
export const schemaErrors = (schema: 'a2a-v1' | 'a2a-v1.strict' | 'a2a-v0.3.0', card: Json): unknown[] => {
  const validate = validators.get(schema) ?? validatorOf(schema)
  validators.set(schema, validate)
  return validate(card) ? [] : (validate.errors ?? [])
}

const validatorOf = (schema: string): ValidateFunction => {
  const file = schema === 'a2a-v0.3.0' ? `${schema}.json` : `${schema}.schema.json`
  const ajv = new Ajv({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(JSON.parse(read(`schema/${file}`)), 'a2a')
  return ajv.compile({ $ref: 'a2a#/definitions/AgentCard' })
}

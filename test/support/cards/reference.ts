import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import type { Json, JsonObject } from '../../../src/json/json.ts'

const shared = join(import.meta.dirname, '../../../../shared')
const read = (path: string): string => readFileSync(join(shared, path), 'utf8')

/** Whether the folder with the reference schemas and the published cards is beside the project. */
export const hasReference = existsSync(join(shared, 'corpus/manifest.json'))

/** The end of the title of each test that needs the schemas: why it is skipped. */
export const skipNotice = hasReference ? '' : ' (skipped: ../shared, with the published schemas, is missing)'

/** One file of the corpus: a document as people publish it as a card. */
export type CorpusFile = { file: string; dialect: string; text: string }

const readCorpus = (folder: string): CorpusFile[] =>
  (JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as CorpusFile[]).map(({ file, dialect }) => ({
    file,
    dialect,
    text: readFileSync(join(folder, file), 'utf8'),
  }))

/** The corpus: documents of our own, of every kind that is published, and those from public repositories if they are there. */
export const corpus: CorpusFile[] = [
  ...readCorpus(join(import.meta.dirname, '../../fixtures/corpus')),
  ...(hasReference ? readCorpus(join(shared, 'corpus')) : []),
]

const schemaFiles = { '1.0': 'a2a-v1.strict.schema.json', '0.3': 'a2a-v0.3.0.json' }

/** Compiles the published schema of the Agent Card of an A2A version so that it rejects unknown members. */
export const compilePublishedSchema = (version: keyof typeof schemaFiles): ((document: Json) => boolean) => {
  const schema = JSON.parse(read(`schema/${schemaFiles[version]}`)) as { definitions: Record<string, JsonObject> }
  // The published schema of 0.3 allows them everywhere.
  for (const definition of Object.values(schema.definitions))
    if ('properties' in definition) definition.additionalProperties = false
  const validate = new Ajv({ strict: false }).addSchema(schema, 'a2a').compile({ $ref: 'a2a#/definitions/AgentCard' })
  return document => validate(document)
}

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const shared = join(import.meta.dirname, '../../../../shared')

/** Whether the folder with the published cards is beside the project. */
const hasReference = existsSync(join(shared, 'corpus/manifest.json'))

/** One file of the corpus: a document as people publish it as a card. */
type CorpusFile = { file: string; dialect: string; text: string }

const readCorpus = (folder: string): CorpusFile[] =>
  (JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as CorpusFile[]).map(({ file, dialect }) => ({
    file,
    dialect,
    text: readFileSync(join(folder, file), 'utf8'),
  }))

/** Documents of our own, of every kind that is published. */
export const ownCorpus = readCorpus(join(import.meta.dirname, '../../fixtures/corpus'))

/** The corpus: documents of our own, and those from public repositories if they are there. */
export const corpus: CorpusFile[] = [...ownCorpus, ...(hasReference ? readCorpus(join(shared, 'corpus')) : [])]

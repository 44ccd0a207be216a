import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BadFile } from './bad-file.ts'
import { type Defaults, defaultsNames, readDefaults } from './defaults-file.ts'
import { type Draft, isDraft, readDrafts } from './draft.ts'
import { isExternalName } from './external-agents.ts'
import type { Problem } from './problem.ts'
import { parseSource, type Source } from './source.ts'

/** What was made of the owner's files. */
export type Loaded = { drafts: Draft[]; bad: BadFile[] }

/**
 * Reads files, each with the defaults of its folder. A bad file is told, and stops no other. The agents of others come last, as
 * the first agent of an empty host becomes its root agent.
 */
export const load = (named: readonly string[], origin: string): Loaded => {
  const { own = [], others = [] } = Object.groupBy(named, file => (isExternalName(file) ? 'others' : 'own'))
  const files = [...own, ...others]
  const folders = new Map<string, Defaults | { problems: Problem[] } | undefined>()
  const read = files.flatMap((file): (Draft | BadFile)[] => {
    const folder = dirname(file)
    if (!folders.has(folder)) folders.set(folder, loadDefaults(folder))
    const source = readSource(file)
    if ('problems' in source) return [{ file, problems: source.problems }]
    const defaults = folders.get(folder)
    if (defaults && 'problems' in defaults) return [{ file, problems: defaults.problems }]
    return readDrafts(source, defaults, origin)
  })
  return refuseDuplicates(read)
}

const loadDefaults = (folder: string): Defaults | { problems: Problem[] } | undefined => {
  const file = defaultsNames.map(name => join(folder, name)).find(path => existsSync(path))
  if (file === undefined) return undefined
  const source = readSource(file)
  return 'problems' in source ? source : readDefaults(source)
}

const readSource = (file: string): Source | { problems: Problem[] } => {
  try {
    return parseSource(file, readFileSync(file, 'utf8'))
  } catch (error) {
    const message = `cannot be read: ${error instanceof Error ? error.message : error}`
    return { problems: [{ file, line: 1, column: 1, pointer: '', message }] }
  }
}

/** Two of one id would overwrite each other with every synchronisation: neither is sent. */
const refuseDuplicates = (read: readonly (Draft | BadFile)[]): Loaded => {
  const drafts = read.filter(isDraft)
  const rivals = (draft: Draft): Draft[] => drafts.filter(other => other !== draft && other.id === draft.id)
  return {
    drafts: drafts.filter(draft => rivals(draft).length === 0),
    bad: read.flatMap(item => {
      if (!isDraft(item)) return [item]
      const others = rivals(item).map(other => other.file)
      if (others.length === 0) return []
      const message = `"${item.id}" is the id of ${others.join(', ')} too`
      return [{ file: item.file, id: item.id, problems: [item.places.problem({ pointer: '/id', message })] }]
    }),
  }
}

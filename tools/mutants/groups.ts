import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findMutants } from './mutators.ts'
import type { LocatedMutant } from './sample.ts'

/** The folders whose tests are measured together, by the names of `--folder`. */
export const groups: Record<string, readonly string[]> = {
  ...Object.fromEntries(
    ['a2a', 'api', 'auth', 'card', 'conformance', 'gateway', 'mcp', 'registry', 'signing', 'sources'].map(name => [
      name,
      [`src/${name}`],
    ]),
  ),
  http: ['src/http', 'src/json'],
  cli: ['cli'],
}

/** Finds every mutant of a group. */
export const findGroupMutants = (root: string, group: string): LocatedMutant[] =>
  (groups[group] ?? [])
    .flatMap(folder => globSync(`${folder}/**/*.ts`, { cwd: root, exclude: ['**/*.d.ts'] }).sort())
    .flatMap(path => findMutants(readFileSync(join(root, path), 'utf8')).map(mutant => ({ ...mutant, path })))

/**
 * Sorts test files, those nearest to a module first: `test/` mirrors `src/` and `cli/`. Of two as near, that is first which reaches
 * fewer mutants.
 */
export const orderTests = (path: string, files: readonly string[], reachedBy: (file: string) => number): string[] => {
  const names = namesOf(path)
  const distance = (file: string) => {
    const parts = namesOf(file)
    const other = names.findIndex((name, index) => name !== parts[index])
    return other === -1 ? 0 : names.length - other
  }
  return files.toSorted((left, right) => distance(left) - distance(right) || reachedBy(left) - reachedBy(right))
}

/** Splits a path into what the path of a module and those of its tests have in common. */
const namesOf = (path: string): string[] =>
  path
    .replace(/^(src|test)\//, '')
    .replace(/\..*/, '')
    .split('/')

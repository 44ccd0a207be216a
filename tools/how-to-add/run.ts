/**
 * Proves rows of "How to add …" in CONTRIBUTING.md: for each recipe, edits a copy of this checkout, in the files that the
 * row names and in no others, writes the generated files, checks the types, and runs a test of what was added. Fails if
 * any of it does. `npm run howto [-- ROW …]`, such as "a dialect".
 */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Recipe, recipes } from './recipes.ts'

const root = join(import.meta.dirname, '../..')

/** Returns the paths that a row of the table names. A path that ends in a slash is a folder for a new file. */
const namedPaths = (row: string): string[] => {
  const table = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const line = table.split('\n').find(text => text.startsWith(`| ${row} |`))
  if (line === undefined) throw new Error(`CONTRIBUTING.md has no row "${row}"`)
  return [...line.matchAll(/`((?:src|cli|test)\/[\w./-]+)`/g)].map(([, path = '']) => path)
}

const runIn = (directory: string, command: string, ...args: string[]): void => {
  execFileSync(command, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
}

/** Copies what git knows or would add, and shares the packages. */
const copyTree = (directory: string): void => {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  for (const file of files.split('\n').filter(Boolean)) {
    mkdirSync(dirname(join(directory, file)), { recursive: true })
    cpSync(join(root, file), join(directory, file))
  }
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
}

/** Applies a recipe to a copy. Throws if it edits a file that its row does not name. */
const applyEdits = ({ row, edits }: Recipe, directory: string): void => {
  const named = namedPaths(row)
  for (const [file, edit] of Object.entries(edits)) {
    if (!named.includes(file) && !named.includes(`${dirname(file)}/`))
      throw new Error(`the row "${row}" does not name ${file}`)
    const path = join(directory, file)
    const before = typeof edit === 'string' ? '' : readFileSync(path, 'utf8')
    const after = typeof edit === 'string' ? edit : edit(before)
    if (after === before) throw new Error(`the edit of ${file} changes nothing`)
    writeFileSync(path, after)
  }
}

const prove = (recipe: Recipe): void => {
  const directory = mkdtempSync(join(tmpdir(), 'how-to-add-'))
  try {
    copyTree(directory)
    applyEdits(recipe, directory)
    runIn(directory, 'node', '--import', './tools/jsx.ts', 'tools/docs/index.ts')
    // Tests of neighbors list all rows, too: the row of a test is not part of a recipe.
    runIn(directory, 'tsc', '-b', 'src', 'cli', 'src/pages/browser')
    writeFileSync(join(directory, 'test/how-to-add.test.ts'), recipe.test)
    runIn(directory, 'vitest', 'run', '--project', 'unit', 'test/how-to-add.test.ts')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const selected = process.argv.slice(2)
for (const recipe of recipes.filter(({ row }) => selected.length === 0 || selected.includes(row))) {
  const count = Object.keys(recipe.edits).length
  try {
    prove(recipe)
    console.log(`${recipe.row}: ${count} ${count === 1 ? 'file' : 'files'}`)
  } catch (error) {
    process.exitCode = 1
    const output = error instanceof Error && 'stdout' in error ? `\n${error.stdout}${Reflect.get(error, 'stderr')}` : ''
    console.log(`${recipe.row}: failed: ${error instanceof Error ? error.message : error}${output.slice(-4000)}`)
  }
}

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const MAX_FILES_IN_FOLDER = 14
const MAX_IMPORTS_PER_100_LINES = 6
const MAX_COLUMNS = 120

const root = join(import.meta.dirname, '..')
const modules = globSync('{src,cli}/**/*.{ts,tsx}', { cwd: root, exclude: ['**/*.d.ts'] })
  .sort()
  .map(path => {
    const text = readFileSync(join(root, path), 'utf8')
    const specifiers = text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g).map(([, specifier = '']) => specifier)
    return {
      path,
      text,
      lines: text.split('\n').length - 1,
      imports: [...new Set(specifiers.map(specifier => normalize(join(dirname(path), specifier))))],
    }
  })

/** Groups the paths of the modules by a part of each. */
const groupPaths = (partOf: (path: string) => string): [part: string, paths: string[]][] => [
  ...Map.groupBy(
    modules.map(({ path }) => path),
    path => partOf(path),
  ),
]

/** Returns the names on a circle of imports, or an empty array. */
const findCircle = (arrows: ReadonlyMap<string, ReadonlySet<string>>): string[] => {
  const done = new Set<string>()
  const visit = (name: string, path: string[]): string[] => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name]
    if (done.has(name)) return []
    for (const next of arrows.get(name) ?? []) {
      const circle = visit(next, [...path, name])
      if (circle.length > 0) return circle
    }
    done.add(name)
    return []
  }
  for (const name of arrows.keys()) {
    const circle = visit(name, [])
    if (circle.length > 0) return circle
  }
  return []
}

// Biome guards the rest: private files (tools/private-files.grit), circles between files, lengths of files and numbers of parameters.
describe('the tree of src and cli', () => {
  it(`has at most ${MAX_FILES_IN_FOLDER} files in a folder`, () => {
    const crowded = groupPaths(dirname).filter(([, paths]) => paths.length > MAX_FILES_IN_FOLDER)
    expect(crowded.map(([folder, paths]) => `${folder}: ${paths.length}`)).toStrictEqual([])
  })

  it(`has at most ${MAX_IMPORTS_PER_100_LINES} relative imports in 100 lines`, () => {
    const imports = modules.reduce((sum, module) => sum + module.imports.length, 0)
    const lines = modules.reduce((sum, module) => sum + module.lines, 0)
    expect((100 * imports) / lines).toBeLessThanOrEqual(MAX_IMPORTS_PER_100_LINES)
  })

  it(`has at most ${MAX_COLUMNS} columns in a line, comments and texts included`, () => {
    const wide = modules.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => (line.length > MAX_COLUMNS ? `${path}:${index + 1}` : [])),
    )
    expect(wide).toStrictEqual([])
  })

  it.each([
    ['folders', 2],
    ['folders and their subfolders', Number.POSITIVE_INFINITY],
  ])('has no circle between its %s, types included', (_, depth) => {
    // The files of src and cli themselves are above all folders, or, as limits.ts, below them.
    const folderOf = (path: string): string => {
      const names = path.split('/')
      // The MCP server is made of calls through the gateway, below which the other parts of `mcp` are.
      const shown = path.startsWith('src/mcp/') ? Math.max(depth, 3) : depth
      return names.slice(0, Math.min(shown, Math.max(2, names.length - 1))).join('/')
    }
    const members = Map.groupBy(modules, ({ path }) => folderOf(path))
    const arrows = [...members].map(([folder, files]): [string, Set<string>] => {
      const imported = files.flatMap(({ imports }) => imports.map(folderOf))
      return [folder, new Set(imported.filter(target => target !== folder))]
    })
    expect(findCircle(new Map(arrows))).toStrictEqual([])
  })

  it('normalizes Unicode in one place, which bounds the length: the time is quadratic in runs of combining marks', () => {
    const normalizing = modules.filter(({ text }) => /\.(?:normalize|localeCompare)\(|Intl\.Collator/.test(text))
    expect(normalizing.map(({ path }) => path)).toStrictEqual(['src/card/model/constants.ts'])
  })

  it('parses URLs in one place, which bounds the host: the parser normalizes it too', () => {
    const parsing = modules.filter(({ text }) => /\bURL\.(?:parse|canParse)\(/.test(text))
    expect(parsing.map(({ path }) => path)).toStrictEqual(['src/http/safe-fetch.ts'])
  })
})

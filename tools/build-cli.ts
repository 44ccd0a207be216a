import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type OutputChunk } from 'rolldown'
import * as v from 'valibot'
import { createManifestSchema } from '../src/card/manifest/index.ts'

const root = join(import.meta.dirname, '..')

/** The members of the repository's package.json that the package's own takes over. */
const Repository = v.object({
  version: v.string(),
  license: v.string(),
  /** Checked by cli/sync-card.ts; cli/tsconfig.json has the types of the oldest Node.js. */
  engines: v.object({ node: v.string() }),
  dependencies: v.record(v.string(), v.string()),
})

/**
 * Builds the npm package `sync-card` into `folder`: modules, the JSON Schema of manifests, and a package.json with the
 * pinned versions of its dependencies. The code is not minified, so that stack traces can be read.
 */
export const buildPackage = async (folder: string): Promise<void> => {
  rmSync(folder, { recursive: true, force: true })
  const chunks = await bundle(join(folder, 'lib'))
  const own = new Set(chunks.map(({ fileName }) => fileName))
  const imports = chunks.flatMap(chunk => [...chunk.imports, ...chunk.dynamicImports]).filter(name => !own.has(name))
  const manifest = describePackage(imports)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), toJsonText(manifest))
  writeFileSync(join(folder, 'manifest.schema.json'), toJsonText(createManifestSchema()))
  copyFileSync(join(root, 'cli/README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  chmodSync(join(folder, manifest.bin['sync-card']), 0o755)
}

const toJsonText = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

/** Bundles the program. What it imports with `import()` is in chunks of its own. */
const bundle = async (folder: string): Promise<OutputChunk[]> => {
  const { output } = await build({
    cwd: root,
    input: { 'sync-card': './cli/sync-card.ts' },
    platform: 'node',
    external: /^(?:node:.+|@?[a-z][\w./-]*)$/,
    // A dependency has no effect but by what is imported from it.
    treeshake: { moduleSideEffects: 'no-external' },
    transform: { target: 'node20.19' },
    onLog: (level, log, print) => {
      if (level === 'warn') throw new Error(log.message)
      print(level, log)
    },
    output: { dir: folder, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' },
  })
  return output.filter(file => file.type === 'chunk')
}

const describePackage = (imports: readonly string[]) => {
  const text = readFileSync(join(root, 'package.json'), 'utf8')
  const { version, license, engines, dependencies: pinned } = v.parse(Repository, JSON.parse(text))
  // The package that a module specifier names, such as `yaml` for `yaml/util`.
  const names = imports.flatMap(specifier => /^(?!node:)(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? [])
  return {
    name: 'sync-card',
    version,
    description: 'Keep the A2A Agent Cards of a Calling Card host in line with your files',
    keywords: ['a2a', 'agent2agent', 'agent-card', 'agents', 'calling-card', 'cli'],
    license,
    type: 'module',
    bin: { 'sync-card': 'lib/sync-card.js' },
    files: ['lib', 'manifest.schema.json'],
    engines,
    dependencies: Object.fromEntries([...new Set(names)].sort().map(name => [name, pinnedVersion(name, pinned)])),
  }
}

const pinnedVersion = (name: string, pinned: Readonly<Record<string, string>>): string => {
  const version = pinned[name]
  if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version))
    throw new Error(`The bundle imports ${name}, for which the dependencies of package.json name no version.`)
  return version
}

if (process.argv[1] === import.meta.filename) await buildPackage(join(root, 'dist/sync-card'))

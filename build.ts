import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type InputOptions } from 'rolldown'

const root = import.meta.dirname

/** What every bundle for the Workers runtime is built with. */
export const workerOptions = {
  external: /^(cloudflare|node):/,
  platform: 'neutral',
  resolve: {
    conditionNames: ['workerd', 'worker', 'browser', 'import'],
    mainFields: ['browser', 'module', 'main'],
    alias: { '@modelcontextprotocol/client/_shims': join(root, 'src/mcp/client-shims.ts') },
  },
  transform: { target: 'es2024', define: { 'process.env.NODE_ENV': '"production"' } },
  onLog: (level, log, print) => {
    // Rolldown would leave the import as it is, and the Worker could not start.
    if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
    print(level, log)
  },
} satisfies InputOptions

/**
 * Builds the Worker into `directory` as it is uploaded: minified ES modules with source maps. `start.js` has all that a start
 * evaluates. What the source imports with `import()` is in modules of its own, which the runtime compiles on first import; only what
 * the Registry loads is in one, `store.js`, because many small modules are larger than one.
 */
export const buildWorker = async (directory: string): Promise<void> => {
  const { output } = await build({
    cwd: root,
    input: 'src/index.ts',
    ...workerOptions,
    write: false,
    output: {
      dir: directory,
      format: 'esm',
      minify: true,
      // The bundler has used the annotations; licenses stay.
      comments: { annotation: false, jsdoc: false },
      sourcemap: true,
      entryFileNames: 'index.js',
      chunkFileNames: '[name].js',
      codeSplitting: {
        groups: [
          { name: 'start', tags: ['$initial'] },
          { name: 'store', test: /\/registry\/store\// },
        ],
      },
    },
  })
  replaceFiles(directory, new Map(output.map(file => [file.fileName, file.type === 'chunk' ? file.code : file.source])))
}

/** Writes only what changed and removes what is left of other builds: tests and `wrangler dev` may be reading the directory. */
const replaceFiles = (directory: string, files: ReadonlyMap<string, string | Uint8Array>): void => {
  mkdirSync(directory, { recursive: true })
  for (const name of readdirSync(directory)) if (!files.has(name)) rmSync(join(directory, name), { recursive: true })
  for (const [name, content] of files) {
    const path = join(directory, name)
    if (!existsSync(path) || !readFileSync(path).equals(Buffer.from(content))) writeFileSync(path, content)
  }
}

if (process.argv[1] === import.meta.filename) await buildWorker(join(root, 'out'))

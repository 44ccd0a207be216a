import { join } from 'node:path'
import { build } from 'rolldown'

const root = import.meta.dirname

/**
 * Builds the Worker into `directory` as it is uploaded: minified ES modules with source maps. `start.js` has all that a start
 * evaluates. What the source imports with `import()` is in modules of its own, which the runtime compiles on first import.
 */
export const buildWorker = async (directory: string): Promise<void> => {
  await build({
    cwd: root,
    input: 'src/index.ts',
    external: /^(cloudflare|node):/,
    platform: 'neutral',
    resolve: { conditionNames: ['workerd', 'worker', 'browser', 'import'], mainFields: ['browser', 'module', 'main'] },
    transform: { target: 'es2024', define: { 'process.env.NODE_ENV': '"production"' } },
    onLog: (level, log, print) => {
      // Rolldown would leave the import as it is, and the Worker could not start.
      if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
      print(level, log)
    },
    output: {
      dir: directory,
      cleanDir: true,
      format: 'esm',
      minify: true,
      sourcemap: true,
      entryFileNames: 'index.js',
      chunkFileNames: '[name].js',
      codeSplitting: { groups: [{ name: 'start', tags: ['$initial'] }] },
    },
  })
}

if (process.argv[1] === import.meta.filename) await buildWorker(join(root, 'out'))

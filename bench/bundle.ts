import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')

/** The host as `wrangler deploy` uploads it: one minified module, made into `directory`. */
export const hostBundle = async (directory: string): Promise<string> => {
  const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js')
  await promisify(execFile)(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', directory], {
    cwd: root,
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
  })
  return readFile(join(directory, 'index.js'), 'utf8')
}

/** The part of the host that every start evaluates: all but what is imported when it is first needed. */
export const startBundle = async (): Promise<string> => {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(root, 'src/index.ts')],
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*', 'node:*'],
    outdir: 'start',
    write: false,
  })
  const [entry = ''] = Object.keys(metafile.outputs).filter(
    name => metafile.outputs[name]?.entryPoint === 'src/index.ts',
  )
  const reached = new Set([entry])
  for (const name of reached)
    for (const { path, kind } of metafile.outputs[name]?.imports ?? [])
      if (kind === 'import-statement') reached.add(path)
  const chosen = outputFiles.filter(({ path }) => [...reached].some(name => path === join(root, name)))
  return chosen.map(({ text }) => text).join('\n')
}

/** A Worker of bench/workers as one module. */
export const workerBundle = async (name: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'workers', `${name}.js`)],
    bundle: true,
    minify: true,
    format: 'esm',
    external: ['cloudflare:*', './host.js'],
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

/** The size of a bundle as it travels: gzip at its best. */
export const gzipBytes = (bundle: string): number => gzipSync(bundle, { level: 9 }).byteLength

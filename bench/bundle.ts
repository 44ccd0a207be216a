import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'rolldown'
import { unstable_readConfig } from 'wrangler'
import { buildWorker } from '../tools/build.ts'
import { buildCommit } from '../tools/commits.ts'

/** The host as it is deployed: its modules by name, the main one first, and the flags and variables of wrangler.toml. */
export type HostBundle = { modules: Record<string, string>; flags: string[]; vars: Record<string, string> }

/** Builds the host into a directory and reads it from there. */
export const buildHost = async (directory: string): Promise<HostBundle> => {
  await buildWorker(directory)
  return readHost(directory)
}

/** Builds the host of a commit. */
export const buildHostOf = (commit: string): HostBundle => {
  const directory = buildCommit(commit)
  return readHost(directory, join(directory, 'wrangler.toml'))
}

/** Reads the host that `npm run build` has written into a directory. */
export const readHost = (directory: string, config = join(import.meta.dirname, '../wrangler.toml')): HostBundle => {
  const names = readdirSync(directory).filter(name => name.endsWith('.js') && name !== MAIN)
  const { compatibility_flags: flags, vars } = unstable_readConfig({ config }, { hideWarnings: true })
  return {
    modules: Object.fromEntries([MAIN, ...names].map(name => [name, readFileSync(join(directory, name), 'utf8')])),
    flags,
    vars: vars as Record<string, string>,
  }
}

const MAIN = 'index.js'

/** Returns the modules that every start compiles and evaluates: those that the main module imports statically. */
export const startModules = ({ modules }: HostBundle): Record<string, string> => staticModules(modules, MAIN)

/** Returns a module with those that it imports statically, and these, and so on. */
export const staticModules = (modules: Readonly<Record<string, string>>, first: string): Record<string, string> => {
  const reached = new Set([first])
  for (const name of reached)
    for (const [, imported = ''] of (modules[name] ?? '').matchAll(/(?:from|import)\s*["'`]\.\/([^"'`]+)["'`]/g))
      reached.add(imported)
  return Object.fromEntries([...reached].map(name => [name, modules[name] ?? '']))
}

/** Returns the scripts that pages load, by name, of the host that `npm run build` has written into a directory. */
export const readScripts = (directory: string): Record<string, string> => {
  const assets = join(directory, 'public/assets')
  const names = readdirSync(assets).filter(name => name.endsWith('.js'))
  return Object.fromEntries(names.map(name => [name, readFileSync(join(assets, name), 'utf8')]))
}

/** Joins the modules of the host into one, as a bundler without code splitting would. */
export const joinModules = async ({ modules }: HostBundle): Promise<Record<string, string>> => {
  const { output } = await build({
    input: MAIN,
    external: /^(cloudflare|node):/,
    platform: 'neutral',
    write: false,
    plugins: [
      {
        name: 'modules',
        resolveId: id => (id.replace('./', '') in modules ? id.replace('./', '') : null),
        load: id => modules[id] ?? null,
      },
    ],
    output: { format: 'esm', minify: true, codeSplitting: false },
  })
  return { [MAIN]: output[0].code }
}

/** Bundles a Worker of bench/workers into one module. `index.js` beside it stands for the host, and stays an import. */
export const workerBundle = async (name: string): Promise<string> => {
  const { output } = await build({
    input: join(import.meta.dirname, 'workers', `${name}.js`),
    external: [/^cloudflare:/, './index.js'],
    platform: 'neutral',
    write: false,
    output: { format: 'esm', minify: true },
  })
  return output[0].code
}

/** Returns the size of modules after transfer: all of them together, with gzip at its best. */
export const gzipBytes = (modules: Record<string, string>): number =>
  gzipSync(Object.values(modules).join('\n'), { level: 9 }).byteLength

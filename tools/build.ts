import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type InputOptions, type Plugin, type RolldownOutput } from 'rolldown'

const root = join(import.meta.dirname, '..')

const shims = join(root, 'src/mcp/client/client-shims.ts')

/** How JSX is compiled: the same components become text in the Worker, and elements in a browser. */
const jsxOf = (importSource: string) => ({ runtime: 'automatic', importSource, development: false }) as const

/** What every bundle for the Workers runtime is built with. */
export const workerOptions = {
  external: /^(cloudflare|node):/,
  platform: 'neutral',
  tsconfig: false,
  resolve: {
    conditionNames: ['workerd', 'worker', 'browser', 'import'],
    mainFields: ['browser', 'module', 'main'],
    alias: { '@modelcontextprotocol/client/_shims': shims },
  },
  transform: { target: 'es2024', define: { 'process.env.NODE_ENV': '"production"' }, jsx: jsxOf('hono/jsx') },
  onLog: (level, log, print) => {
    // Rolldown would leave the import as it is, and the Worker could not start.
    if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
    // The Registry imports modules of `store.js` in both ways: it is one module in any case.
    if (log.code !== 'INEFFECTIVE_DYNAMIC_IMPORT') print(level, log)
  },
} satisfies InputOptions

/**
 * Builds the Worker into `directory` as it is uploaded: minified ES modules with source maps. `start.js` has all that a start
 * evaluates. What the source imports with `import()` is in modules of its own, which the runtime compiles on first import; only what
 * the Registry loads is in one, `store.js`, because many small modules are larger than one. What signs cards again, exports
 * or imports is loaded rarely.
 */
export const buildWorker = async (directory: string, plugins: Plugin[] = []): Promise<void> => {
  const { files, paths } = await buildAssets()
  const { output } = await build({
    cwd: root,
    input: 'src/index.ts',
    ...workerOptions,
    resolve: {
      ...workerOptions.resolve,
      alias: { ...workerOptions.resolve.alias, '@modelcontextprotocol/server/_shims': shims },
    },
    plugins: [withoutUnused, withoutUnusedParts, withOneCore, withOneSdk, ...plugins],
    transform: {
      ...workerOptions.transform,
      define: { ...workerOptions.transform.define, ASSET_PATHS: JSON.stringify(paths) },
    },
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
          // Loaded without the Registry, too.
          { name: 'valibot', test: /node_modules\/valibot\// },
          // Many small modules, of which a request loads most.
          { name: 'jose', test: /node_modules\/jose\// },
          { name: 'schemas', test: /\/api\/schemas\// },
          { name: 'sql', test: /\/registry\/sql\.ts$/ },
          // All that a plain call needs.
          { name: 'calls', test: /\/src\/(?:a2a\/(?!bridge)|gateway\/(?!tasks|translate|extended|upstream\/[ct]))/ },
          // Small modules that are loaded together.
          { name: 'descriptions', test: /\/api\/(?:(?:call|card)-descriptions|contract\/description)/ },
          { name: 'events', test: /\/registry\/events\/(?!start)/ },
          { name: 'owners', test: /\/gateway\/tasks\/own/ },
          { name: 'store', test: /\/registry\/(store|tables)\/(?!resign)/ },
        ],
      },
    },
  })
  const modules = output.map((file): [string, Content] => [file.fileName, contentOf(file)])
  const assets = [...files].map(([path, content]): [string, Content] => [`public${path}`, content])
  replaceFiles(directory, new Map([...modules, ...assets]))
}

/**
 * Leaves out what the MCP client brings but this host never uses: how zod makes JSON Schema of each schema, and a login
 * with OAuth, as the host has a token for each server.
 */
const withoutUnused: Plugin = {
  name: 'without-unused',
  transform: {
    filter: {
      id: /zod\/v4\/core\/(?:json-schema-processors|to-json-schema)\.js$|\/core\/dist\/auth-[\w-]+\.mjs$|\/pkce-challenge\//,
    },
    handler: text => {
      const declaration = /^export (default )?(?:const|(?:async )?function) (\w+)/gm
      const declared = text
        .matchAll(declaration)
        .map(([, isDefault, name = '']) => name + (isDefault ? ' as default' : ''))
      const listed = text.matchAll(/^export \{ (.*) \}/gm).flatMap(([, names = '']) => names.split(', '))
      const names = [...declared, ...listed]
      const values = [...new Set(names.map(name => name.split(' ', 1)[0]))].map(name => `${name} = () => {}`)
      return { code: `const ${values.join(', ')}; export { ${names.join(', ')} }`, map: null }
    },
  },
}

/** Parts of packages that this host never uses, by file: what a search finds, and what is left of it. */
const unusedParts: readonly (readonly [file: RegExp, search: RegExp, rest: string])[] = [
  // No page has a context, or elements that move into the head by themselves.
  [
    /hono\/dist\/jsx\/context\.js$/,
    /[\s\S]*/,
    `export const globalContexts = [], useContext = () => {}, createContext = () => ({ children }) => children
export const captureRenderContext = () => runWithRenderContext, runWithRenderContext = render => render()`,
  ],
  [
    /hono\/dist\/jsx\/intrinsic-element\/components\.js$/,
    /[\s\S]*/,
    'export const components_exports = { __proto__: null }',
  ],
  // The policy of pages forbids styles of elements.
  [/hono\/dist\/jsx\/utils\.js$/, /styleObjectForEach = /, '$&() => {}, unused = '],
  // The login of the MCP client with OAuth begins only with a provider of credentials: it has none.
  [
    /@modelcontextprotocol\/client\/dist\/public-[\w-]+\.mjs$/,
    /^async function authInternal\([\s\S]*?^}$/m,
    'const authInternal = () => {}',
  ],
  // Pictures draw the modules of a code themselves.
  [/qr\/index\.js$/, /(?<=return renderRaw\(r\);)[\s\S]*?(?=return err\()/, ''],
]

const withoutUnusedParts: Plugin = {
  name: 'without-unused-parts',
  transform: {
    filter: { id: unusedParts.map(([file]) => file) },
    handler: (text, id) => {
      const [, search, rest = ''] = unusedParts.find(([file]) => file.test(id)) ?? []
      if (search === undefined) return null
      if (!search.test(text)) throw new Error(`${id} has no ${search} any more`)
      return { code: text.replace(search, rest), map: null }
    },
  },
}

/** What both packages of MCP bundle: the same source, of which each leaves out what it does not need. */
const coreOf = (name: string): string => {
  const [path] = globSync(join(root, `node_modules/@modelcontextprotocol/${name}/dist/src-*.mjs`))
  if (path === undefined) throw new Error(`@modelcontextprotocol/${name} has no module src-*.mjs any more`)
  // A build of another commit has a link to the packages, and the bundler follows it.
  return realpathSync(path)
}

const sourcesIn = (code: string) =>
  [...code.matchAll(/^\/\/#region (?:.*)\n([\s\S]*?)^\/\/#endregion\n/gm)].map(([text]) => text)

const declaredIn = (code: string): string[] =>
  [...code.matchAll(/^(?:const|let|var|class|function\*?|async function\*?) ([\w$]+)/gm)].map(([, name = '']) => name)

/** Takes for the client what the server's package has word for word, so that the upload has it once. */
const withOneCore: Plugin = {
  name: 'with-one-core',
  transform: {
    filter: { id: /@modelcontextprotocol\/(?:client|server)\/dist\/src-[\w-]+\.mjs$/ },
    handler: (code, id) => {
      const path = coreOf('server')
      const isServer = id === path
      const own = sourcesIn(code)
      const others = new Set(sourcesIn(readFileSync(isServer ? coreOf('client') : path, 'utf8')))
      const shared = own.filter(source => others.has(source))
      const names = shared.flatMap(declaredIn)
      const list = names.map(name => (isServer ? `${name} as core_${name}` : `core_${name} as ${name}`)).join(', ')
      if (isServer) return { code: `${code}\nexport { ${list} }`, map: null }
      const rest = shared.reduce((text, source) => text.replace(source, () => ''), code)
      return { code: `import { ${list} } from ${JSON.stringify(path)}\n${rest}`, map: null }
    },
  },
}

const sdk = join(root, 'node_modules/@a2a-js/sdk/dist')
const sdkEntries = ['index.js', 'errors/index.js'].map(name => realpathSync(join(sdk, name)))

/** Splits a module into its declarations by name. */
const declarationsOf = (code: string): Map<string, string> => {
  const start = /^(?=(?:var|const|class|function|async function) |export |import |\/\/)/m
  const parts = code.split(start).flatMap((text): [string, string][] => {
    const [, name] = /^(?:var|const|class|function\*?|async function\*?) ([\w$]+)/.exec(text) ?? []
    return name === undefined ? [] : [[name, text]]
  })
  return new Map(parts)
}

/** Takes for the server of A2A's SDK what other entries of the package have word for word: each is bundled by itself. */
const withOneSdk: Plugin = {
  name: 'with-one-sdk',
  transform: {
    filter: { id: /@a2a-js\/sdk\/dist\/(?:errors\/|server\/)?index\.js$/ },
    handler: (code, id) => {
      const isServer = !sdkEntries.includes(id)
      const server = declarationsOf(isServer ? code : readFileSync(join(sdk, 'server/index.js'), 'utf8'))
      const sharedWith = (other: string) =>
        [...declarationsOf(other)].filter(([name, text]) => server.get(name) === text)
      if (!isServer) {
        const list = sharedWith(code).map(([name]) => `${name} as sdk_${name}`)
        return { code: `${code}\nexport { ${list.join(', ')} }`, map: null }
      }
      const shared = sdkEntries.map(path => [path, sharedWith(readFileSync(path, 'utf8'))] as const)
      const imports = shared.map(([path, declarations]) => {
        const list = declarations.map(([name]) => `sdk_${name} as ${name}`)
        return `import { ${list.join(', ')} } from ${JSON.stringify(path)}\n`
      })
      const rest = shared
        .flatMap(([, declarations]) => declarations)
        .reduce((all, [, text]) => all.replace(text, () => ''), code)
      return { code: imports.join('') + rest, map: null }
    },
  },
}

type Content = string | Uint8Array

const contentOf = (file: RolldownOutput['output'][number]): Content => (file.type === 'chunk' ? file.code : file.source)

/**
 * Builds what pages load in the browser: a script for each module of src/pages/browser, and one style sheet. Their names have hashes,
 * so that browsers keep them for good. Returns the files by their paths in URLs, and these paths by the names in the source.
 */
const buildAssets = async (): Promise<{ files: Map<string, Content>; paths: Record<string, string> }> => {
  const { output } = await build({
    cwd: root,
    input: globSync('src/pages/browser/*.{ts,tsx}', { cwd: root }).sort(),
    platform: 'browser',
    tsconfig: false,
    transform: {
      target: 'es2022',
      define: { 'process.env.NODE_ENV': '"production"' },
      jsx: jsxOf('hono/jsx/dom'),
    },
    write: false,
    output: {
      format: 'esm',
      minify: true,
      comments: { annotation: false, jsdoc: false },
      entryFileNames: 'assets/[name]-[hash].js',
      chunkFileNames: 'assets/[name]-[hash].js',
    },
  })
  // The first one declares the order of the layers; the rules of one page are beside its component.
  const styles = ['styles/base.css', 'styles/layout.css', 'styles/components.css', '*/**/*.css']
  const stylePaths = new Set(styles.flatMap(each => globSync(`src/pages/${each}`, { cwd: root }).sort()))
  const styleSheet = [...stylePaths].map(path => readFileSync(join(root, path), 'utf8')).join('\n')
  const stylePath = `/assets/site-${createHash('sha256').update(styleSheet).digest('hex').slice(0, 8)}.css`
  const scripts = output.filter(file => file.type === 'chunk' && file.isEntry)
  return {
    files: new Map<string, Content>([
      ...output.map((file): [string, Content] => [`/${file.fileName}`, contentOf(file)]),
      [stylePath, styleSheet],
      ['/favicon.svg', readFileSync(join(root, 'src/pages/favicon.svg'))],
      ['/_headers', ASSET_HEADERS],
      ['/_redirects', ASSET_REDIRECTS],
    ]),
    paths: {
      'site.css': stylePath,
      ...Object.fromEntries(scripts.map(({ name, fileName }) => [`${name}.js`, `/${fileName}`])),
    },
  }
}

/** The headers of static assets, as Cloudflare reads them. */
const ASSET_HEADERS = `/assets/*
  Cache-Control: public, max-age=31536000, immutable
  X-Content-Type-Options: nosniff
/favicon.svg
  Cache-Control: public, max-age=86400
  X-Content-Type-Options: nosniff
`

/** Browsers ask for this icon where a document names none, as JSON does. */
const ASSET_REDIRECTS = '/favicon.ico /favicon.svg 302\n'

/** Writes only what changed, each file at once, and removes what is left of other builds: others may be reading the directory. */
const replaceFiles = (directory: string, files: ReadonlyMap<string, Content>): void => {
  for (const { name, parentPath } of globSync('**', { cwd: directory, withFileTypes: true }).filter(file =>
    file.isFile(),
  )) {
    const path = join(parentPath, name)
    if (!files.has(relative(directory, path))) rmSync(path)
  }
  const part = `${directory}.${process.pid}`
  for (const [name, content] of files) {
    const path = join(directory, name)
    mkdirSync(dirname(path), { recursive: true })
    if (existsSync(path) && readFileSync(path).equals(Buffer.from(content))) continue
    writeFileSync(part, content)
    renameSync(part, path)
  }
}

if (process.argv[1] === import.meta.filename) await buildWorker(join(root, 'out'))

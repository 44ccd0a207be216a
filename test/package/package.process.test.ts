// Starts the shared hosts, which other tests of processes do without.
import '../support/host-setup.ts'

import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import repository from '../../package.json' with { type: 'json' }
import { createManifestSchema } from '../../src/card/manifest/json-schema.ts'
import { VERSION } from '../../src/version.ts'
import { card } from '../cli/workspace.ts'
import { sharedHost, token } from '../support/host.ts'
import { isNightly } from '../support/matrix.ts'

const execute = promisify(execFile)

/** The program in a clone, as package.json declares it. */
const bin = resolve(repository.bin['sync-card'])

/** The oldest versions of Node.js that the package supports. `npm run install:nodes` installs them for a nightly run. */
const oldestVersions = ['20.19.0', '22.12.0']

const nodes = [
  ...(isNightly ? oldestVersions : []).map(version => ({
    version,
    path: resolve('.node-versions/node_modules', `node-${version}`, 'bin/node'),
  })),
  { version: process.versions.node, path: process.execPath },
].map(({ version, path }) => {
  const isMissing = !existsSync(path)
  return {
    version,
    path,
    isMissing,
    title: isMissing ? `${version} (skipped: npm run install:nodes installs it)` : version,
  }
})

/** The package.json of the built package. */
type PackageJson = { version: string; engines: { node: string }; dependencies: Record<string, string> }

let folder: string
let owner: string
let packageJson: PackageJson

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sync-card-package-'))
  const installed = await installPackage(folder)
  owner = installed.owner
  packageJson = installed.packageJson
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/**
 * Builds and packs `sync-card`, and installs the tarball with npm in `owner/`, without a network: npm links the
 * dependencies that the package declares, and no others, to those of this repository.
 */
const installPackage = async (folder: string): Promise<{ owner: string; packageJson: PackageJson }> => {
  const [built, owner] = [resolve('dist/sync-card'), join(folder, 'owner')]
  await npm(['run', 'build:cli'], resolve('.'))
  const packageJson = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8')) as PackageJson
  await npm(['pack', '--pack-destination', folder], built)
  const links = Object.keys(packageJson.dependencies).map(name => [name, `file:${resolve('node_modules', name)}`])
  const dependencies = { 'sync-card': `file:../sync-card-${packageJson.version}.tgz`, ...Object.fromEntries(links) }
  mkdirSync(owner)
  writeFileSync(join(owner, 'package.json'), JSON.stringify({ name: 'owner', private: true, dependencies }))
  // With an empty cache, nothing comes from another installation. Scripts would build the linked packages, as if they were source.
  await npm(['install', '--offline', '--ignore-scripts', '--no-audit', '--cache', join(folder, 'cache')], owner)
  return { owner, packageJson }
}

const npm = (args: string[], cwd: string) => execute('npm', args, { cwd })

describe('the npm package', () => {
  it('has the program, the JSON Schema of manifests, a README and the licence', () => {
    const files = readdirSync(join(owner, 'node_modules/sync-card'), { recursive: true }).map(String).sort()
    expect(files.filter(file => !/^lib\/(?!sync-card)/.test(file))).toEqual([
      'LICENSE',
      'README.md',
      'lib',
      'lib/sync-card.js',
      'manifest.schema.json',
      'package.json',
    ])
    const schema = readFileSync(join(owner, 'node_modules/sync-card/manifest.schema.json'), 'utf8')
    expect(JSON.parse(schema)).toEqual(createManifestSchema())
  })

  it('needs the versions of Node.js that it is tested on', () => {
    expect(packageJson.engines.node).toBe(`^${oldestVersions[0]} || >=${oldestVersions[1]}`)
    const install = repository.scripts['install:nodes']
    expect(oldestVersions.filter(version => !install.includes(`node-${version}@$node@${version}`))).toEqual([])
  })

  it('has the version of the host, and the pinned versions of what it imports', () => {
    expect(packageJson).toMatchObject({ name: 'sync-card', version: VERSION, license: repository.license })
    const pinned: Record<string, string> = repository.dependencies
    const names = Object.keys(packageJson.dependencies)
    expect(packageJson.dependencies).toEqual(Object.fromEntries(names.map(name => [name, pinned[name]])))
    // They are for clones alone.
    for (const name of ['miniflare', 'rolldown', 'wrangler']) expect(names).not.toContain(name)
  })

  it('reports that a Node.js is too old (exit 2)', async () => {
    const program = join(owner, 'node_modules/sync-card/lib/sync-card.js')
    const stderr = expect.stringContaining('sync-card: needs Node.js 20.19, or 22.12 or later')
    for (const version of ['20.18.3', '21.7.3', '22.11.0']) {
      const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`
      const args = ['--import', `data:text/javascript,${pretend}`, program]
      await expect(execute(process.execPath, args)).rejects.toMatchObject({ code: 2, stderr })
    }
  })
})

describe('the repository as a git dependency', () => {
  it('is built when npm packs it, and only then, and packed without its source', async () => {
    const checkout = mkdtempSync(join(folder, 'checkout-'))
    for (const file of ['package.json', 'cli/bin.js']) cpSync(file, join(checkout, file))
    const stub =
      "import { cpSync } from 'node:fs'\nexport const buildPackage = to => cpSync('cli', to, { recursive: true })\n"
    mkdirSync(join(checkout, 'tools'))
    writeFileSync(join(checkout, 'tools/build-cli.ts'), stub)
    await execute('npm', ['run', 'prepare'], { cwd: checkout })
    expect(existsSync(join(checkout, 'dist'))).toBe(false)
    const [{ files }] = JSON.parse((await npm(['pack', '--dry-run', '--json'], checkout)).stdout)
    const paths = files.map(({ path }: { path: string }) => path)
    expect(paths).toEqual(['cli/bin.js', 'dist/sync-card/bin.js', 'package.json'])
  })

  it('runs what was built, and reports that npm ran no scripts when it was installed (exit 2)', async () => {
    const installed = join(owner, 'node_modules/calling-card')
    cpSync('cli/bin.js', join(installed, 'cli/bin.js'))
    const run = () => execute(process.execPath, [join(installed, 'cli/bin.js'), '--version'])
    const stderr = expect.stringContaining('install it again without --ignore-scripts')
    await expect(run()).rejects.toMatchObject({ code: 2, stderr })
    cpSync(join(owner, 'node_modules/sync-card'), join(installed, 'dist/sync-card'), { recursive: true })
    expect((await run()).stdout).toBe(`${VERSION}\n`)
  })
})

it('npx sync-card in a clone runs the source, and reports that an older Node.js cannot (exit 2)', async () => {
  expect((await execute(process.execPath, [bin, '--version'])).stdout).toBe(`${VERSION}\n`)
  const pretend = "Object.defineProperty(process.features, 'typescript', { value: false })"
  const args = ['--import', `data:text/javascript,${pretend}`, bin]
  const stderr = expect.stringContaining('cannot run the source, which needs Node.js 22.18 or later')
  await expect(execute(process.execPath, args)).rejects.toMatchObject({ code: 2, stderr })
})

/** The result of a command in `run-commands.js`. */
type Result = { code: number; stdout: string; stderr: string }

/** Runs command lines with a Node.js, in one process, in a folder of files beside the installation. */
const runCommands = async (node: string, files: Record<string, unknown>, commands: readonly (readonly string[])[]) => {
  const cwd = mkdtempSync(join(owner, 'cards-'))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(cwd, name, '..'), { recursive: true })
    writeFileSync(join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const [input, output] = [join(cwd, 'input.json'), join(cwd, 'output.json')]
  const entry = join(owner, 'node_modules/sync-card', 'lib/sync-card.js')
  const env = { SYNC_CARD_URL: sharedHost().url.origin, SYNC_CARD_TOKEN: token, NO_COLOR: '1' }
  writeFileSync(input, JSON.stringify({ entry, commands: commands.map(args => ({ args, env })) }))
  await execute(node, [resolve('test/package/run-commands.js'), input, output], { cwd })
  return JSON.parse(readFileSync(output, 'utf8')) as Result[]
}

/** A command line, in which `ID` stands for an id of the Node.js in use, and `␣` for a space in an argument; its exit code; and a part of what it writes to stdout. */
type Case = readonly [line: string, code: number, stdout: string | RegExp]

/** Every command at least once, as a test checks. */
const commands: readonly Case[] = [
  ['--version', 0, `${VERSION}\n`],
  ['--help', 0, /^Usage: sync-card .*Exit codes:/s],
  ['lint', 0, /cards\/ID\.yaml:\d+:\d+ info/],
  ['convert cards/ID.yaml --to 0.3', 0, '"preferredTransport": "JSONRPC"'],
  ['verify cards/ID.yaml', 1, 'The card has no signatures.'],
  ['diff --format markdown', 1, '| create | `ID` |'],
  ['', 0, /created +ID/],
  ['--watch', 0, /1 unchanged/],
  ['whoami', 0, /token +admin/],
  ['list --only ID', 0, /^ID\t/],
  ['show ID --dialect 0.3', 0, '"preferredTransport": "JSONRPC"'],
  ['open ID --print', 0, '/agents/ID/.well-known/agent-card.json'],
  ['refresh ID', 3, ''],
  ['check ID', 1, /✓ +gate +Has a card in A2A 1.0/],
  ['tasks clear ID', 0, 'cleared ID'],
  ['history ID', 0, /^1\t.+\tmanifest\tadmin\t-$/m],
  ['remove ID --yes', 0, 'removed ID'],
  ['rollback ID 1', 0, 'restored revision 1 of ID as 3'],
  ['pull ID --out pulled', 0, /pulled\/ID\.yaml/],
  ['token create --scope read --agent ID', 0, /^cc_\w+/],
  ['token list', 0, 'ID'],
  ['keys create --print', 0, '"kty":"EC"'],
  ['audit --agent ID', 0, 'agent-registered'],
  ['audit verify', 0, /^\d+:[0-9a-f]{64}\n/],
  ['export', 0, /^\{"format":"calling-card-export"/],
  ['import no-such-file', 2, ''],
  ['completion bash', 0, 'complete -F _sync_card sync-card'],
  [
    'init ID-new --name New --description Lists␣the␣trains␣of␣a␣station --url https://trains.example.org',
    0,
    'ID-new.yaml',
  ],
]

const toArguments = (line: string): string[] =>
  line === '' ? [] : line.split(' ').map(arg => arg.replaceAll('␣', ' '))

describe.each(nodes)('the installed package on Node.js $title', ({ version, path, isMissing }) => {
  const id = `packaged-${version.replaceAll('.', '-')}`

  it.skipIf(isMissing)('runs as npm has linked it, with this Node.js', async () => {
    const bin = join(owner, 'node_modules/.bin/sync-card')
    const { stdout } = await execute(bin, ['--version'], { env: { PATH: resolve(path, '..') } as never })
    expect(stdout).toBe(`${VERSION}\n`)
  })

  it.skipIf(isMissing)('runs every command', async () => {
    const files = { [`cards/${id}.yaml`]: `card: ${JSON.stringify(card(id))}\n` }
    const lines = commands.map(([line]) => toArguments(line.replaceAll('ID', id)))
    const results = await runCommands(path, files, lines)
    const lists = results[1]?.stdout.match(/^(?:Other c|C)ommands[^\n]*:\n.*?\n\n/gms) ?? []
    const names = [...lists.join('').matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name)
    expect(names.filter(name => !lines.some(([word]) => word === name))).toEqual(['help'])
    const found = results.map(({ code, stdout, stderr }, index) => {
      const [line, , expected = ''] = commands[index] ?? []
      const text = stdout.replaceAll(id, 'ID')
      const matches = typeof expected === 'string' ? text.includes(expected) : expected.test(text)
      return [line, code, matches ? expected : `${text}${stderr}`.slice(0, 1000)]
    })
    expect(found).toEqual(commands)
  })
})

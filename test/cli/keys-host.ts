import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeProtectedHeader } from 'jose'
import { vi } from 'vitest'
import { run } from '../../cli/cli.ts'
import type { HostKeys } from '../../cli/client/index.ts'
import type { Environment } from '../../cli/context.ts'
import { keySecrets } from '../../src/card/model/constants.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'
import { type Ended, Workspace } from './workspace.ts'

/** Does what `wrangler secret` does, with the secrets of a Worker in a file. */
const fakeWrangler = `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs')
const [, command, name] = process.argv.slice(2)
appendFileSync('calls.ndjson', JSON.stringify(process.argv.slice(2)) + '\\n')
const secrets = existsSync('secrets.json') ? JSON.parse(readFileSync('secrets.json', 'utf8')) : {}
if (command === 'list') console.log(JSON.stringify(Object.keys(secrets).map(name => ({ name, type: 'secret_text' }))))
if (command === 'list' && process.env.LIST_FAILURE) {
  writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, JSON.stringify({ type: 'command-failed', version: 1, message: process.env.LIST_FAILURE }) + '\\n')
  process.exit(1)
}
if (command !== 'list' && process.env.EXIT_CODE) process.exit(Number(process.env.EXIT_CODE))
if (command === 'put') secrets[name] = readFileSync(0, 'utf8')
if (command === 'delete') delete secrets[name]
writeFileSync('secrets.json', JSON.stringify(secrets))
`

export const hostUrl = 'https://cards.example.com'

/** An owner's folder with a replacement of wrangler, and the Worker that it deploys to: a host in this process, at the time of a test. */
export class KeysHost {
  readonly workspace: Workspace
  /** Whether wrangler changes this Worker, and not another. */
  isDeployed = true
  /** Whether the host does its work in the background. */
  ringsAlarms = true
  readonly #host: NodeHost
  #secrets = ''

  private constructor(host: NodeHost) {
    this.#host = host
    // A program must not get a variable such as NODE_OPTIONS of a file, which somebody else may have written.
    this.workspace = new Workspace({ 'bin/wrangler': fakeWrangler, '.env': 'EXIT_CODE=9' })
    chmodSync(join(this.workspace.folder, 'bin/wrangler'), 0o755)
  }

  static async start(now = Date.parse('2026-11-26T12:00:00Z')): Promise<KeysHost> {
    vi.useFakeTimers({ toFake: ['Date'], now })
    return new KeysHost(await startNodeHost({ vars: { PUBLIC_URL: hostUrl }, origin: hostUrl }))
  }

  /** The commands that wrangler was called with, without its lists. */
  get calls(): string[][] {
    return this.#readFile('calls.ndjson')
      .split('\n')
      .flatMap(line => (line === '' ? [] : [JSON.parse(line) as string[]]))
      .filter(([, command]) => command !== 'list')
  }

  /** The secrets of the Worker. */
  get secrets(): Record<string, string> {
    return JSON.parse(this.#readFile('secrets.json') || '{}')
  }

  /** Stores secrets of the Worker as wrangler does. */
  store(secrets: Readonly<Record<string, object>>): void {
    const texts = Object.entries(secrets).map(([name, jwk]) => [name, JSON.stringify(jwk)])
    this.workspace.write({ 'secrets.json': Object.fromEntries(texts) })
  }

  /** Runs `sync-card keys`, which the user may interrupt as soon as it waits. */
  async run(args: readonly string[], env: Environment = {}, isInterrupted = false): Promise<Ended> {
    const path = join(this.workspace.folder, 'bin')
    const { io, output } = this.workspace.io({ PATH: path, SYNC_CARD_URL: hostUrl, SYNC_CARD_TOKEN: token, ...env })
    let interrupt = () => {}
    const sleep = (ms: number) => {
      if (isInterrupted) interrupt()
      return this.advance(ms)
    }
    const onInterrupt = (stop: () => void) => {
      interrupt = stop
    }
    const fetch = (url: string | URL | Request, init?: RequestInit) => this.fetch(String(url), init)
    const code = await run(['keys', ...args], { ...io, clock: { now: Date.now, sleep }, fetch, onInterrupt })
    return { code, ...output() }
  }

  /** Sends a request to the host, with the secrets that it has now. */
  async fetch(path: string, init?: RequestInit): Promise<Response> {
    const secrets = this.#readFile('secrets.json')
    if (this.isDeployed && secrets !== this.#secrets) {
      this.#secrets = secrets
      await this.#host.deploy(Object.fromEntries(keySecrets.map(name => [name, this.secrets[name]])))
    }
    return this.#host.fetch(path, init)
  }

  put(id: string, document: Parameters<NodeHost['put']>[1]): Promise<unknown> {
    return this.#host.put(id, document)
  }

  /** Lets time pass, and alarms ring. */
  async advance(ms: number): Promise<void> {
    vi.setSystemTime(Date.now() + ms)
    if (this.ringsAlarms) await this.#host.ringAlarm()
  }

  async keys(): Promise<HostKeys> {
    const response = await this.fetch('/keys', { headers: { Authorization: `Bearer ${token}` } })
    return (await response.json()) as HostKeys
  }

  /** Issues a token with a scope. */
  async issue(scope: string): Promise<string> {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const response = await this.fetch('/tokens', { method: 'POST', headers, body: JSON.stringify({ scopes: [scope] }) })
    return ((await response.json()) as { token: string }).token
  }

  /** Returns the kid of each role. */
  async roles(): Promise<Record<string, string>> {
    return Object.fromEntries((await this.keys()).keys.map(({ role, kid }) => [role, kid]))
  }

  /** Returns the keys that have signed the card of an agent, each once. */
  async signersOf(id: string): Promise<string[]> {
    const card = (await (await this.fetch(`/agents/${id}`)).json()) as { signatures?: { protected: string }[] }
    return [...new Set((card.signatures ?? []).map(signature => decodeProtectedHeader(signature).kid ?? ''))]
  }

  #readFile(name: string): string {
    const file = join(this.workspace.folder, name)
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }
}

import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { decodeProtectedHeader } from 'jose'
import { vi } from 'vitest'
import { run } from '../../cli/cli.ts'
import type { ResponseOf } from '../../cli/client/index.ts'
import type { Environment } from '../../cli/context.ts'
import { keySecrets } from '../../src/variables.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'
import { type Ended, readFrom, Workspace } from './workspace.ts'

/**
 * Does what `wrangler secret` does, with the secrets of a Worker in files of a folder. A shell starts much faster than Node.js. The
 * variable LIST_FAILURE is the JSON of a message.
 */
const fakeWrangler = `#!/bin/sh
args=; for arg; do args="$args,\\"$arg\\""; done
echo "[\${args#,}]" >> calls.ndjson
if [ "$2" = list ] && [ -n "$LIST_FAILURE" ]; then
  printf "%s" "{\\"type\\":\\"command-failed\\",\\"version\\":1,\\"message\\":$LIST_FAILURE}" > "$WRANGLER_OUTPUT_FILE_PATH"
  exit 1
fi
if [ "$2" = list ]; then
  names=; for file in secrets/*; do [ -f "$file" ] && names="$names,{\\"name\\":\\"\${file#secrets/}\\",\\"type\\":\\"secret_text\\"}"; done
  echo "[\${names#,}]"
  exit
fi
[ -n "$EXIT_CODE" ] && exit "$EXIT_CODE"
if [ "$2" = put ]; then /bin/cat > "secrets/$3"; else /bin/rm "secrets/$3"; fi
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
  #secrets = '{}'

  private constructor(host: NodeHost) {
    this.#host = host
    // A program must not get a variable such as NODE_OPTIONS of a file, which somebody else may have written.
    this.workspace = new Workspace({ 'bin/wrangler': fakeWrangler, '.env': 'EXIT_CODE=9' })
    chmodSync(join(this.workspace.folder, 'bin/wrangler'), 0o755)
    mkdirSync(join(this.workspace.folder, 'secrets'))
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
    const names = readdirSync(join(this.workspace.folder, 'secrets'))
    return Object.fromEntries(names.map(name => [name, this.#readFile(`secrets/${name}`)]))
  }

  /** Stores secrets of the Worker as wrangler does. */
  store(secrets: Readonly<Record<string, object>>): void {
    rmSync(join(this.workspace.folder, 'secrets'), { recursive: true })
    mkdirSync(join(this.workspace.folder, 'secrets'))
    for (const [name, jwk] of Object.entries(secrets))
      this.workspace.write({ [`secrets/${name}`]: JSON.stringify(jwk) })
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
    const secrets = JSON.stringify(this.secrets)
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

  async keys(): Promise<ResponseOf<'GET /keys'>> {
    const response = await this.fetch('/keys', { headers: { Authorization: `Bearer ${token}` } })
    return (await response.json()) as ResponseOf<'GET /keys'>
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
    return readFrom(this.workspace, name) ?? ''
  }
}

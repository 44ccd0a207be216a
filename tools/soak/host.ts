import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { buildHost, type HostBundle } from '../../bench/bundle.ts'
import { adminToken, hostWorker, originOf, portOf, type Server, startKv, startWorkerd } from '../../bench/servers.ts'
import type { Binding } from '../../bench/workerd-config.ts'
import { decodeEnvelope, type Envelope } from '../../src/registry/kv-format.ts'
import { makeSigningKey } from '../../test/support/signing-key.ts'

/** The origin of the host's URLs in cards, which stays the same when its port changes. */
export const publicUrl = 'https://cards.example.com'

/** How long after a restart the next key begins to sign. */
const NEXT_KEY_SECONDS = 1

/** What KV has under a key. */
export type KvValue = { bytes: Buffer; metadata: { seq?: number; etag?: string } }

/**
 * A host in a bare workerd that can be killed at any time. The Registry and its alarm are on disk; KV is a process of its own,
 * which is never killed.
 */
export class SoakHost {
  readonly #bundle: HostBundle
  readonly #directory: string
  readonly #allowedOrigin: string
  readonly #kv: Server
  readonly #rotation = new Rotation()
  #server: Server | undefined
  #starting: Promise<void> | undefined

  private constructor(bundle: HostBundle, directory: string, allowedOrigin: string, kv: Server) {
    this.#bundle = bundle
    this.#directory = directory
    this.#allowedOrigin = allowedOrigin
    this.#kv = kv
  }

  /** Builds the host and starts it with an empty Registry in `directory`. It may fetch cards from `allowedOrigin`. */
  static async start(directory: string, allowedOrigin: string): Promise<SoakHost> {
    const bundle = await buildHost(join(directory, 'build'))
    const host = new SoakHost(bundle, directory, allowedOrigin, await startKv(0))
    await host.#startServer()
    return host
  }

  /** Resolves when the host listens. */
  async ready(): Promise<void> {
    await this.#starting
  }

  /** Kills the host, as a crash of its machine would, and starts it again, with the keys of the next step of their rotation. */
  async kill(): Promise<void> {
    await this.ready()
    this.#starting = this.#restart()
    await this.#starting
  }

  /** Sends a request with the admin token. Rejects if the host is killed before it responds. */
  async send(method: string, path: string, body?: unknown): Promise<Response> {
    await this.ready()
    if (!this.#server) throw new Error('the host is not started')
    const response = await fetch(originOf(this.#server) + path, {
      method,
      headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    // The whole response is the acknowledgement.
    const text = await response.text()
    return new Response(text === '' ? null : text, response)
  }

  /** Reads a key of KV, as the edge does. */
  readKv(key: string): Promise<KvValue | undefined> {
    return new Promise((resolve, reject) => {
      const path = `/${encodeURIComponent(key)}`
      // Another host name would be a request to the server of KV itself.
      const headers = { Host: 'fake-host' }
      httpRequest({ host: '127.0.0.1', port: portOf(this.#kv), path, headers }, async response => {
        const bytes = await buffer(response)
        const metadata = JSON.parse(String(response.headers['cf-kv-metadata'] ?? '{}'))
        resolve(response.statusCode === 200 ? { bytes, metadata } : undefined)
      })
        .on('error', reject)
        .end()
    })
  }

  /** Reads the documents under a key of KV; undefined where there are none. */
  async readEnvelope(key: string): Promise<(Envelope & Pick<KvValue, 'metadata'>) | undefined> {
    const value = await this.readKv(key)
    return value && { ...decodeEnvelope(new Uint8Array(value.bytes).buffer), metadata: value.metadata }
  }

  async stop(): Promise<void> {
    await this.ready()
    await Promise.all([this.#server, this.#kv].map(server => server?.stop()))
  }

  async #restart(): Promise<void> {
    const { pid = 0, stop } = this.#server ?? {}
    process.kill(pid, 'SIGKILL')
    await stop?.()
    await this.#startServer()
  }

  async #startServer(): Promise<void> {
    this.#server = await startWorkerd({
      services: {
        host: hostWorker(this.#bundle, {
          ALLOWED_ORIGINS: { text: this.#allowedOrigin },
          PUBLIC_URL: { text: publicUrl },
          ...this.#rotation.nextSecrets(),
        }),
        kv: { port: portOf(this.#kv) },
        disk: { directory: this.#directory },
      },
      sockets: ['host'],
    })
  }
}

/** Rotates the keys of the host: at one start there is one key, at the next one its successor as well, then that alone. */
class Rotation {
  #starts = 0
  #key = makeSigningKey()
  #next: ReturnType<typeof makeSigningKey> | undefined

  /** Returns the secrets of the next start. */
  nextSecrets(): Record<string, Binding> {
    const secrets = ['SIGNING_KEY', 'SIGNING_KEY_2'] as const
    if (this.#next) {
      this.#key = this.#next
      this.#next = undefined
      this.#starts++
    } else if (this.#starts > 0) {
      this.#next = { ...makeSigningKey(), nbf: Math.ceil(Date.now() / 1000) + NEXT_KEY_SECONDS }
    } else {
      this.#starts++
    }
    const [own, other] = this.#starts % 2 === 1 ? secrets : secrets.toReversed()
    return {
      [own]: { text: JSON.stringify(this.#key) },
      ...(this.#next && { [other]: { text: JSON.stringify(this.#next) } }),
    }
  }
}

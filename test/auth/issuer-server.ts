import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

/** A key that an issuer signs with. */
export type Key = { kid: string; alg: string; privateKey: CryptoKey; jwk: JWK }

/** An OpenID Connect issuer on this machine, with faults to order. */
export class IssuerServer {
  /** What was asked for, in order. */
  readonly seen: string[] = []
  keys: Key[] = []
  /** What its documents hold besides, or instead. */
  discovery: Record<string, unknown> = {}
  keySet: unknown
  isUp = true
  readonly #server: Server

  constructor() {
    this.#server = createServer(({ url = '' }, response) => {
      this.seen.push(url)
      if (!this.isUp) return response.writeHead(503).end()
      const body = url === '/keys' ? (this.keySet ?? { keys: this.keys.map(({ jwk }) => jwk) }) : this.#document()
      return response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    })
  }

  /** Listens, with a key of its own unless it is given one. */
  async listen(key?: Key): Promise<this> {
    await new Promise<void>(listening => this.#server.listen(0, '127.0.0.1', listening))
    this.keys = [key ?? (await makeKey('first', 'RS256'))]
    return this
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(closed => this.#server.close(closed))
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get issuer(): string {
    return `${this.origin}/tenant`
  }

  get discoveryUrl(): string {
    return `${this.issuer}/.well-known/openid-configuration`
  }

  /** Puts a new key in the place of all others. */
  async rotate(kid: string, alg = 'RS256'): Promise<Key> {
    const key = await makeKey(kid, alg)
    this.keys = [key]
    return key
  }

  /** A token of this issuer, good for an hour, unless its claims say otherwise. */
  sign(
    claims: Record<string, unknown> = {},
    header: { kid?: string | undefined; typ?: string } = {},
    key = this.keys[0] as Key,
  ) {
    const now = Math.floor(Date.now() / 1000)
    return new SignJWT({ iss: this.issuer, aud: 'https://host/agents/a', sub: 'somebody', exp: now + 3600, ...claims })
      .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header } as { alg: string })
      .sign(key.privateKey)
  }

  #document() {
    return { issuer: this.issuer, jwks_uri: `${this.origin}/keys`, ...this.discovery }
  }
}

/** A pair of keys, the public one as an issuer publishes it. */
export const makeKey = async (kid: string, alg: string): Promise<Key> => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { UpstreamServer } from './upstream.ts'

/** A key that an issuer signs with. */
export type Key = { kid: string; alg: string; privateKey: CryptoKey; jwk: JWK }

/** An OpenID Connect issuer on this machine that a test can break. */
export class IssuerServer extends UpstreamServer {
  keys: Key[] = []
  /** Members added to its discovery document, or put in place of its own. */
  discovery: Record<string, unknown> = {}
  /** Sent in place of its own; a string is sent as it is. */
  keySet: unknown
  isUp = true
  /** Part of its name: an issuer with another one is unknown to the host. */
  tenant = 'tenant'

  constructor() {
    super()
    this.respond((response, { url }) => {
      if (!this.isUp) return void response.writeHead(503).end()
      const body = url === '/keys' ? (this.keySet ?? { keys: this.keys.map(({ jwk }) => jwk) }) : this.#document()
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  }

  get issuer(): string {
    return `${this.origin}/${this.tenant}`
  }

  get discoveryUrl(): string {
    return `${this.issuer}/.well-known/openid-configuration`
  }

  /** The paths that were requested, in order. */
  get paths(): string[] {
    return this.requests.map(({ path }) => path)
  }

  /** Replaces all keys with a new one. */
  async rotate(kid: string, alg = 'ES256'): Promise<Key> {
    const key = await makeKey(kid, alg)
    this.keys = [key]
    return key
  }

  /** Signs a token of this issuer, valid for an hour unless its claims say otherwise. */
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

/** Starts an issuer, with a key of its own unless it is given one. */
export const startIssuer = async (key?: Key, ports?: Iterable<number>): Promise<IssuerServer> => {
  const issuer = await new IssuerServer().listen(ports)
  issuer.keys = [key ?? (await makeKey('first', 'ES256'))]
  return issuer
}

/** Makes a pair of keys, the public one in the form in which an issuer publishes it. */
export const makeKey = async (kid: string, alg: string): Promise<Key> => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

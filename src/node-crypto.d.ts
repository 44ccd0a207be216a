/** The part of Node's API that the Worker uses: Web Crypto hashes neither synchronously nor piece by piece. */
declare module 'node:crypto' {
  /** A hash to which data is added until its digest is computed. */
  interface Sha256 {
    update(data: Uint8Array | string): Sha256
    digest(encoding: 'hex'): string
  }
  /** Begins a hash. */
  export const createHash: (algorithm: 'sha256') => Sha256
}

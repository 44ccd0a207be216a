import type { BridgeCall } from './bridge-call.ts'
import type { Principal } from './shares.ts'

/**
 * Names accounts. That of an address leads back to none: it is a hash with a secret that is kept nowhere, and gone with the
 * object's memory.
 */
export class PrincipalQuotas {
  readonly #secret = crypto.randomUUID()

  async of({ caller, address }: Pick<BridgeCall, 'caller' | 'address'>): Promise<Principal> {
    if (caller !== '') return { known: true, name: caller }
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${this.#secret} ${address}`))
    const name = Array.from(new Uint8Array(hash, 0, 16), byte => byte.toString(16).padStart(2, '0')).join('')
    return { known: false, name }
  }
}

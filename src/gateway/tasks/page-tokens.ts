import { MAX_PAGE_TOKEN_LENGTH } from '../../limits.ts'

/** Where a page of a caller's tasks begins. */
export type PagePosition = {
  /** The token of the agent's page; empty for its first. */
  token: string
  /** How many of the caller's own tasks on that page were on earlier pages of the caller. */
  skip: number
  /** How many all earlier pages of the caller had. */
  seen: number
}

export const FIRST_PAGE: PagePosition = { token: '', skip: 0, seen: 0 }

/** Sealed tokens are shorter: six bytes for each character of the agent's token, a third more in base64, and some digits. */
export const MAX_SEALED_LENGTH = 9 * MAX_PAGE_TOKEN_LENGTH

const IV_BYTES = 12

/**
 * Encrypts the agent's page token for one caller: it often contains the id of a task, which may be another caller's. The key is 32
 * random bytes.
 */
export const sealPageToken = async (
  key: Uint8Array<ArrayBuffer>,
  caller: string,
  position: PagePosition,
): Promise<string> => {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const text = new TextEncoder().encode(JSON.stringify(position))
  const sealed = new Uint8Array(await crypto.subtle.encrypt(parameters(iv, caller), await importKey(key), text))
  return toBase64Url([iv, sealed])
}

/** Decrypts a token of `sealPageToken`. Returns undefined for any other, and for one of another caller. */
export const openPageToken = async (
  key: Uint8Array<ArrayBuffer>,
  caller: string,
  token: string,
): Promise<PagePosition | undefined> => {
  if (token.length > MAX_SEALED_LENGTH) return undefined
  try {
    const bytes = fromBase64Url(token)
    const text = await crypto.subtle.decrypt(
      parameters(bytes.slice(0, IV_BYTES), caller),
      await importKey(key),
      bytes.slice(IV_BYTES),
    )
    return JSON.parse(new TextDecoder().decode(text)) as PagePosition
  } catch {
    return undefined
  }
}

const parameters = (iv: Uint8Array<ArrayBuffer>, caller: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(caller),
})

const importKey = (key: Uint8Array<ArrayBuffer>): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt'])

const toBase64Url = (chunks: readonly Uint8Array[]): string =>
  btoa(chunks.map(bytes => Array.from(bytes, byte => String.fromCharCode(byte)).join('')).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), character => character.charCodeAt(0))

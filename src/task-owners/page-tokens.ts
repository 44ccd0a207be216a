/** Where the next page of an agent's tasks begins, and how many of the caller's own the pages before had. */
export type PagePosition = { token: string; seen: number }

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
  return toBase64Url([...iv, ...sealed])
}

/** Decrypts a token of `sealPageToken`. Returns undefined for any other, and for one of another caller. */
export const openPageToken = async (
  key: Uint8Array<ArrayBuffer>,
  caller: string,
  token: string,
): Promise<PagePosition | undefined> => {
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

const toBase64Url = (bytes: readonly number[]): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), character => character.charCodeAt(0))

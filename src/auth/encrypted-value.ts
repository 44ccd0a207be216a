import { base64url } from 'jose'

/** Bytes as the runtime stores them. */
export type Bytes = Uint8Array<ArrayBuffer>

const IV_BYTES = 12

/** Encrypts a value for one caller with a key of 32 bytes: nobody reads it, and no other caller can use it. */
export const encryptFor = async (caller: string, value: unknown, key: Bytes): Promise<string> => {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const encrypted = await crypto.subtle.encrypt(aesGcm(iv, caller), await importKey(key), encode(JSON.stringify(value)))
  return base64url.encode(new Uint8Array([...iv, ...new Uint8Array(encrypted)]))
}

/** Decrypts what was encrypted for a caller; undefined for anything else. */
export const decryptFor = async <Value>(caller: string, text: string, key: Bytes): Promise<Value | undefined> => {
  try {
    const bytes = base64url.decode(text)
    const algorithm = aesGcm(bytes.slice(0, IV_BYTES), caller)
    const decrypted = await crypto.subtle.decrypt(algorithm, await importKey(key), bytes.slice(IV_BYTES))
    return JSON.parse(new TextDecoder().decode(decrypted)) as Value
  } catch {
    return undefined
  }
}

const encode = (text: string) => new TextEncoder().encode(text)

const aesGcm = (iv: Bytes, caller: string) => ({ name: 'AES-GCM', iv, additionalData: encode(caller) })

const importKey = (key: Bytes): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt'])

import { config, type Variables } from '../config.ts'
import { sha256Hex } from '../http/start.ts'

/** Base32 in lower case: a double click selects a token as one word, and no character needs an escape. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const ID_LENGTH = 12
/** 160 random bits, at five bits a character. */
const SECRET_LENGTH = 32

const tokenForm = new RegExp(`^cc_[a-z2-7]{${ID_LENGTH}}_[a-z2-7]{${SECRET_LENGTH}}$`)

/** Checks the form of a token. Text of another form costs neither a hash nor a read. */
export const isToken = (text: string): boolean => tokenForm.test(text)

/** Creates a random token. Only its digest is stored. */
export const createToken = async (): Promise<{ id: string; token: string; hash: string }> => {
  const id = randomText(ID_LENGTH)
  const token = `cc_${id}_${randomText(SECRET_LENGTH)}`
  return { id, token, hash: await sha256Hex(token) }
}

/** 256 is a multiple of 32, so every character is equally likely. */
const randomText = (length: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(length)), byte => ALPHABET[byte % ALPHABET.length]).join('')

/** Checks whether a token is the ADMIN_TOKEN, in a time that depends on neither its content nor its length. */
export const isAdminToken = async (token: string, env: Variables): Promise<boolean> => {
  const { adminToken } = config(env)
  if (adminToken === undefined) return false
  const [given, expected] = await Promise.all([digest(token), digest(adminToken)])
  return crypto.subtle.timingSafeEqual(given, expected)
}

const digest = (text: string): Promise<ArrayBuffer> => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))

/** Checks whether a header contains a token of this host, in any form: it must not leave this host. */
export const containsHostToken = (value: string, env: Variables): boolean =>
  containsIssuedToken(value) || containsAdminToken(value, env)

/** The texts of one call that are searched for the ADMIN_TOKEN: all that a call of A2A has, besides API keys. */
const MAX_SEARCHED_TEXTS = 16

/**
 * Returns a check like `containsHostToken` for the texts of one call. It searches only the first few for the
 * ADMIN_TOKEN: a call could carry hundreds of guesses, and an agent sees what is withheld from it.
 */
export const createTokenFinder = (env: Variables): ((text: string) => boolean) => {
  let searched: Map<string, boolean> | undefined
  return text => {
    if (containsIssuedToken(text)) return true
    const { adminToken } = config(env)
    // Most texts are too short, or this host has no ADMIN_TOKEN.
    if (adminToken === undefined || text.length < adminToken.length) return false
    searched ??= new Map()
    const isFound = searched.get(text) ?? (searched.size < MAX_SEARCHED_TEXTS && containsAdminToken(text, env))
    if (searched.size < MAX_SEARCHED_TEXTS) searched.set(text, isFound)
    return isFound
  }
}

/** Checks whether a header's value contains what is, or claims to be, a token that a host has issued. */
export const containsIssuedToken = (value: string): boolean =>
  mayContainIssuedToken.test(value) &&
  (issuedToken.test(value) || decodeBasic(value).some(text => issuedToken.test(text)))

/** Matches every text in which one of the slower searches could find something. */
const mayContainIssuedToken = /cc_|basic[ \t]/i

/** The prefix of a token where a token begins, or prefix and id anywhere: a JWT can contain `cc_` by chance. */
const issuedToken = /(?:^|[^\w.~+/-])cc_|cc_[a-z2-7]{12}_/i

/** The length of a searched text beyond the ADMIN_TOKEN in base64: a scheme, names and separators. */
const MAX_AROUND_LENGTH = 64

/**
 * Checks whether a text contains the ADMIN_TOKEN, if this host accepts it. Searches the beginning and the end of a long
 * text only: its middle could carry hundreds of guesses, and an agent sees what is withheld from it.
 */
export const containsAdminToken = (text: string, env: Variables): boolean => {
  const { adminToken } = config(env)
  if (adminToken === undefined || text.length < adminToken.length) return false
  const length = 2 * adminToken.length + MAX_AROUND_LENGTH
  if (text.length <= 2 * length) return containsSecret(text, adminToken)
  return containsSecret(text.slice(0, length), adminToken) || containsSecret(text.slice(-length), adminToken)
}

const containsSecret = (text: string, secret: string): boolean =>
  text.includes(secret) || decodeBasic(text).some(each => each.includes(secret))

/** Returns the decoded credentials of every `Basic` scheme in a header. */
const decodeBasic = (value: string): string[] =>
  value.match(/\bBasic[ \t]+[\w+/-]+/gi)?.map(credentials => {
    const word = credentials.replace(/^Basic[ \t]+/i, '')
    // A single last character encodes no byte, and makes `atob` throw.
    const encoded = word.slice(0, word.length - Number(word.length % 4 === 1))
    return atob(encoded.replace(/[-_]/g, letter => (letter === '-' ? '+' : '/')))
  }) ?? []

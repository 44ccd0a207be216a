import { MIN_ADMIN_TOKEN_LENGTH } from '../limits.ts'

/** Whether this host takes no ADMIN_TOKEN: there is none, or it could be guessed, except on one's own machine. */
export const isAdminTokenMissing = ({ url }: Request, { ADMIN_TOKEN }: Pick<Env, 'ADMIN_TOKEN'>): boolean =>
  !ADMIN_TOKEN ||
  (ADMIN_TOKEN.length < MIN_ADMIN_TOKEN_LENGTH && !/^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])[:/]/.test(url))

/** Whether a token is the host's ADMIN_TOKEN. Digests are compared, so that time tells neither content nor length. */
export const isAdminToken = async (
  token: string,
  request: Request,
  env: Pick<Env, 'ADMIN_TOKEN'>,
): Promise<boolean> => {
  if (isAdminTokenMissing(request, env)) return false
  const [given, wanted] = await Promise.all([digest(token), digest(env.ADMIN_TOKEN)])
  return crypto.subtle.timingSafeEqual(given, wanted)
}

const digest = (text: string): Promise<ArrayBuffer> => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))

/**
 * Whether a text holds the ADMIN_TOKEN anywhere. What is compared are rolling hashes under a key that nobody knows, so that time
 * does not tell how much of a guess was right.
 */
export const containsAdminToken = (text: string, { ADMIN_TOKEN: wanted }: Pick<Env, 'ADMIN_TOKEN'>): boolean => {
  if (!wanted || text.length < wanted.length) return false
  // Part of other words by chance, as no long one is.
  if (wanted.length < MIN_ADMIN_TOKEN_LENGTH) return text.split(/[\s,:;="']+/).includes(wanted)
  key ||= (crypto.getRandomValues(new Int32Array(1))[0] ?? 0) | 1
  let hash = 0
  let power = 1
  let wantedHash = 0
  for (let at = 0; at < wanted.length; at++) {
    wantedHash = (Math.imul(wantedHash, key) + wanted.charCodeAt(at)) | 0
    power = Math.imul(power, key)
  }
  for (let at = 0; at < text.length; at++) {
    const from = at - wanted.length
    const left = from < 0 ? 0 : Math.imul(power, text.charCodeAt(from))
    hash = (Math.imul(hash, key) + text.charCodeAt(at) - left) | 0
    if (hash === wantedHash && text.startsWith(wanted, from + 1)) return true
  }
  return false
}

/** Random numbers are to be had by a request alone. */
let key = 0

/** The beginning of a token of this host where a token begins; or more of one anywhere: a JWT holds `cc_` by chance. */
const issued = /(?:^|[^\w.~+/-])cc_|cc_[a-z2-7]{12}_/i

/** Whether a header's value holds a token of this host, well or badly written: such a value is for nobody else. */
export const containsHostToken = (value: string, env: Pick<Env, 'ADMIN_TOKEN'>): boolean =>
  [value, ...passwords(value)].some(text => issued.test(text) || containsAdminToken(text, env))

/** What Basic credentials say, decoded. */
const passwords = (value: string): string[] =>
  Array.from(value.matchAll(/\bBasic[ \t]+([\w+/-]+)/gi), ([, word = '']) =>
    // A last character alone holds no byte, and `atob` would throw.
    atob(
      word
        .slice(0, word.length - Number(word.length % 4 === 1))
        .replace(/[-_]/g, letter => (letter === '-' ? '+' : '/')),
    ),
  )

/** Base32 in lower case: one word for a terminal's double click, and no letter that needs another case or escape. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const idLength = 12
/** At five bits each: 160, which nobody guesses. */
const secretLength = 32

const form = new RegExp(`^cc_[a-z2-7]{${idLength}}_[a-z2-7]{${secretLength}}$`)

/** The form of a token's id. */
export const tokenId = new RegExp(`^[a-z2-7]{${idLength}}$`)

/** A token that has just been made: the only time that its text is known to this host. */
type NewToken = { id: string; token: string; hash: string }

/** Makes a token. */
export const createToken = async (): Promise<NewToken> => {
  const id = random(idLength)
  const token = `cc_${id}_${random(secretLength)}`
  return { id, token, hash: await sha256Hex(token) }
}

/** Whether a text has a token's form. What has not costs neither a hash nor a read. */
export const isToken = (text: string): boolean => form.test(text)

/** What a token is found by: its SHA-256 in hexadecimal. Whoever looks it up compares no secret, so time tells nothing. */
export const sha256Hex = async (token: string): Promise<string> => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)))
  return Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('')
}

/** 256 is a multiple of 32: every character is as likely as any other. */
const random = (length: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(length)), byte => alphabet[byte % alphabet.length]).join('')

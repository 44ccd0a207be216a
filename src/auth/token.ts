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

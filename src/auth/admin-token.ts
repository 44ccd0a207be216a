import { minAdminTokenLength } from '../limits.ts'

/** Whether this host takes no ADMIN_TOKEN: there is none, or it could be guessed, except on one's own machine. */
export const isAdminTokenMissing = ({ url }: Request, { ADMIN_TOKEN }: Pick<Env, 'ADMIN_TOKEN'>): boolean =>
  !ADMIN_TOKEN ||
  (ADMIN_TOKEN.length < minAdminTokenLength && !/^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])[:/]/.test(url))

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
  if (wanted.length < minAdminTokenLength) return text.split(/[\s,:;="']+/).includes(wanted)
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

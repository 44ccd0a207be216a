import { agentIdPattern } from './card/model/start.ts'
import { blockReason, log, parseOrigins, parseUrl, splitOrigins, toOrigin } from './http/start.ts'
import { MIN_ADMIN_TOKEN_LENGTH } from './limits.ts'
import { defaults, type hostSecrets, type VariableName } from './variables.ts'

declare global {
  /** Secrets are optional: `wrangler types` declares those of `.dev.vars.example` only. */
  interface Env extends Partial<Record<Exclude<(typeof hostSecrets)[number], 'ADMIN_TOKEN'>, string>> {}
}

/** The part of the Worker's environment that this module reads. */
export type Variables = { readonly [Name in VariableName]?: string | undefined }

/** What is wrong with a variable. Contains no part of its value, because anyone may read it. */
type ConfigIssue = { name: VariableName; message: string }

/** The configuration of this host. Keys are in the secrets themselves, which `signing` and `events` read. */
export type Config = Readonly<ReturnType<typeof parse>>

const configs = new WeakMap<Variables, Config>()

/** Returns the configuration of this host, parsed once. A wrong value counts as its default, and is reported. */
export const config = (env: Variables): Config => {
  const known = configs.get(env)
  if (known) return known
  const parsed = parse(env)
  configs.set(env, parsed)
  if (parsed.issues.length > 0) {
    const detail = parsed.issues.map(({ name, message }) => `${name} ${message}`).join('; ')
    log('error', 'misconfigured', { 'calling_card.detail': detail })
  }
  return parsed
}

const parse = (env: Variables) => {
  const issues: ConfigIssue[] = []
  /** Reports a variable that is set, and wrong. */
  const check = (name: VariableName, isRight: boolean, form: string): boolean => {
    if (env[name] && !isRight) issues.push({ name, message: `must be ${form}` })
    return isRight
  }
  const { ADMIN_TOKEN = '', PUBLIC_URL = '', ROOT_AGENT = '', ALLOWED_ORIGINS, WEBHOOK_URL = '', LOCAL_ORIGINS } = env

  const isLong = ADMIN_TOKEN.length >= MIN_ADMIN_TOKEN_LENGTH
  check('ADMIN_TOKEN', isLong, `at least ${MIN_ADMIN_TOKEN_LENGTH} characters`)

  const publicOrigin = toOrigin(PUBLIC_URL)
  const isOrigin = publicOrigin !== '' && parseUrl(PUBLIC_URL)?.href === `${publicOrigin}/`
  check('PUBLIC_URL', isOrigin, 'an origin such as https://cards.example.com')

  const isId = agentIdPattern.test(ROOT_AGENT)
  check('ROOT_AGENT', isId, 'the id of an agent')

  const role = env.ROLE?.trim() || defaults.ROLE
  check('ROLE', role === 'public' || role === 'internal', 'public or internal')

  const mcp = env.MCP?.trim() || defaults.MCP
  check('MCP', mcp === 'on' || mcp === 'off', 'on or off')

  const parseCaching = (name: 'CACHE_MAX_AGE' | 'CACHE_STALE_WHILE_REVALIDATE'): number => {
    const isWhole = /^\d{1,9}$/.test(env[name] ?? '')
    return check(name, isWhole, 'a whole number of seconds') ? Number(env[name]) : defaults[name]
  }
  const maxAge = parseCaching('CACHE_MAX_AGE')
  const stale = parseCaching('CACHE_STALE_WHILE_REVALIDATE')

  const parseTimeout = (name: 'UPSTREAM_TIMEOUT' | 'STREAM_IDLE_TIMEOUT'): number => {
    const seconds = Number(env[name])
    const isRight = seconds > 0 && seconds <= MAX_TIMEOUT_SECONDS
    return check(name, isRight, `more than 0 and at most ${MAX_TIMEOUT_SECONDS} seconds`) ? seconds : defaults[name]
  }

  const allowedOrigins = parseOrigins(ALLOWED_ORIGINS)
  check('ALLOWED_ORIGINS', !allowedOrigins.delete(''), 'origins, separated by spaces')

  const isCalled = blockReason(WEBHOOK_URL, allowedOrigins) === undefined
  check('WEBHOOK_URL', isCalled, 'a public https URL, or one of an origin in ALLOWED_ORIGINS')

  return {
    /** Undefined if there is none, or one that is so short that it could be guessed. */
    adminToken: isLong ? ADMIN_TOKEN : undefined,
    publicOrigin: publicOrigin || undefined,
    rootAgent: isId ? ROOT_AGENT : undefined,
    /** Whom Shaman's list is for: everybody, or callers with a token. A misspelt role was hardly meant to be public. */
    role: role === 'public' ? role : ('internal' as const),
    /** Whether MCP clients can use this host. A misspelt `off` was hardly meant to be on. */
    offersMcp: mcp === 'on',
    /** How long some cache of a client, or on the way to it, may serve a public response after it was replaced. */
    cacheSeconds: maxAge + stale,
    /** How long a client may cache a public response. */
    maxAgeSeconds: maxAge,
    publicCacheControl: `public, max-age=${maxAge}, stale-while-revalidate=${stale}`,
    upstreamTimeoutSeconds: parseTimeout('UPSTREAM_TIMEOUT'),
    streamIdleTimeoutSeconds: parseTimeout('STREAM_IDLE_TIMEOUT'),
    /** Origins that this host may call although they are not public https ones. */
    allowedOrigins: allowedOrigins as ReadonlySet<string>,
    /** The origins of this host and of web pages that it trusts, in local mode; undefined outside of it. */
    localOrigins: LOCAL_ORIGINS
      ? [...splitOrigins(LOCAL_ORIGINS).map(text => toOrigin(text) || text), publicOrigin]
      : undefined,
    /** A URL that this host does not call counts, too: changes wait for a better one. */
    webhookUrl: WEBHOOK_URL || undefined,
    issues: issues as readonly ConfigIssue[],
  }
}

/** A day: long timers fire at once. */
const MAX_TIMEOUT_SECONDS = 86_400

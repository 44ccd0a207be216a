/**
 * What the owner of a host can configure. `npm run docs` writes `wrangler.toml`, `.dev.vars.example`, the texts of the
 * Deploy button in `package.json`, and docs/reference/variables.md from this module.
 */

import { MIN_ADMIN_TOKEN_LENGTH } from './limits.ts'

/** The variables of `wrangler.toml`, each with the value that counts if it is empty or left out. */
export const defaults = {
  CACHE_MAX_AGE: 60,
  CACHE_STALE_WHILE_REVALIDATE: 86_400,
  PUBLIC_URL: '',
  ROOT_AGENT: '',
  ROLE: 'public',
  MCP: 'on',
  UPSTREAM_TIMEOUT: 60,
  STREAM_IDLE_TIMEOUT: 120,
  ALLOWED_ORIGINS: '',
  WEBHOOK_URL: '',
} as const

/** The Worker secrets that have the keys of a host. They take turns, so that one of them is free for the next key. */
export const keySecrets = ['SIGNING_KEY', 'SIGNING_KEY_2'] as const

/** The secrets of the host itself. */
export const hostSecrets = ['ADMIN_TOKEN', ...keySecrets, 'WEBHOOK_SECRET', 'LOCAL_ORIGINS'] as const

export type VariableName = keyof typeof defaults | (typeof hostSecrets)[number]

/** All of these names. No manifest can use one as a secret of its agent. */
export const variableNames: readonly string[] = [...Object.keys(defaults), ...hostSecrets]

/** Describes each of them, with its unit. The Worker does not import this. */
export const descriptions: Readonly<Record<VariableName, string>> = {
  PUBLIC_URL:
    'The origin of the absolute URLs of this host, such as `https://cards.example.com`. Empty: the first of the ' +
    "agent's `hosts`, else the origin of the request that registers the agent.",
  ROOT_AGENT:
    'The id of the agent that is served on host names that no agent claims. Empty: the agent that claims ' +
    '`"*"`, else the first public agent that was registered.',
  ROLE:
    "Who sees Shaman's list of agents. `public`: everyone sees the public agents. `internal`: only callers with a " +
    'token see it.',
  MCP: 'Whether MCP clients can use this host and its agents at `/mcp` and `/agents/{id}/mcp`: `on` or `off`.',
  CACHE_MAX_AGE: 'Seconds for which a client may cache a card.',
  CACHE_STALE_WHILE_REVALIDATE:
    'Seconds after `CACHE_MAX_AGE` in which a cache may serve the card while it revalidates it.',
  UPSTREAM_TIMEOUT: 'Seconds in which an agent must respond to a call.',
  STREAM_IDLE_TIMEOUT: 'Seconds for which the stream of an agent may be silent.',
  ALLOWED_ORIGINS:
    'Origins that this host may call although they are not public or not https, separated by spaces. For ' +
    'development and your own network: leave it empty on a host at Cloudflare.',
  WEBHOOK_URL:
    'The URL to which every change of an agent is sent, signed with the secret `WEBHOOK_SECRET`. Empty: none.',
  ADMIN_TOKEN:
    `The first token, which allows everything. At least ${MIN_ADMIN_TOKEN_LENGTH} random characters: run ` +
    `\`openssl rand -hex 32\`, and keep the result.`,
  SIGNING_KEY:
    'A key with which this host signs: a private P-256 key as a JWK, which signs from its `nbf` on (seconds ' +
    'since 1970). `npx sync-card keys create` makes the first one.',
  SIGNING_KEY_2: 'A second signing key, for rotation.',
  WEBHOOK_SECRET:
    'The key that signs what is sent to `WEBHOOK_URL`: `whsec_` and 24 to 64 bytes in base64. While it is ' +
    'replaced: several, separated by spaces.',
  LOCAL_ORIGINS:
    'Origins of web pages that may write and call agents of a host that `npm start` runs, separated by spaces. ' +
    'Never set it on a deployed host.',
}

/** The variables of wrangler.toml and the host's own secrets. No manifest can use one as a secret of its agent. */
export const hostVariables = {
  ADMIN_TOKEN: true,
  ALLOWED_ORIGINS: true,
  CACHE_MAX_AGE: true,
  CACHE_STALE_WHILE_REVALIDATE: true,
  LOCAL_ORIGINS: true,
  PUBLIC_URL: true,
  ROLE: true,
  ROOT_AGENT: true,
  SIGNING_KEY: true,
  SIGNING_KEY_2: true,
  STREAM_IDLE_TIMEOUT: true,
  UPSTREAM_TIMEOUT: true,
  WEBHOOK_SECRET: true,
  WEBHOOK_URL: true,
} as const

import type { Source } from '../../src/card/manifest/upstream.ts'

/** A card of another host, but for `changes`. */
export const sourceAt = (url: string, changes: Partial<Source> = {}): Source => ({
  kind: 'card',
  url,
  ttl: 300,
  staleIfError: 86_400,
  pin: false,
  ...changes,
})

/** What of the Worker's environment a source needs. */
export const envWith = (bindings: Record<string, unknown>): Env =>
  ({ ALLOWED_ORIGINS: '', PUBLIC_URL: '', ...bindings }) as unknown as Env

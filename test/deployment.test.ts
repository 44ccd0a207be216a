import { expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'

const config = unstable_readConfig({ config: 'wrangler.toml' }, { hideWarnings: true })

// Workers Cache leaves the host and Authorization out of its key: an entrypoint that heeds either must not be behind it.
it('keeps in Workers Cache what the entrypoint Catalog answers, and nothing else', () => {
  const { cache, exports } = config as unknown as { cache: object; exports: Record<string, { cache: object }> }
  expect([cache, exports]).toEqual([
    { enabled: true },
    {
      default: { type: 'worker', cache: { enabled: false } },
      Catalog: { type: 'worker', cache: { enabled: true } },
    },
  ])
})

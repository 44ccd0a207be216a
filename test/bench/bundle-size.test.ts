import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gzipBytes, hostBundle, startBundle } from '../../bench/bundle.ts'

describe('the bundle, minified and gzipped', () => {
  it('is at most 30 KiB of what every start evaluates: reads of cards, calls, and the doors to the rest', async () => {
    expect(gzipBytes(await startBundle())).toBeLessThanOrEqual(30 * 1024)
  })

  it('is at most 256 KiB with all that is loaded when it is first needed, most of it the client of MCP', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'calling-card-bundle-'))
    try {
      expect(gzipBytes(await hostBundle(directory))).toBeLessThanOrEqual(256 * 1024)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})

import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { gzipBytes, startBundle } from '../../bench/bundle.ts'

describe('the bundle, minified and gzipped', () => {
  it('is at most 30 KiB of what every start evaluates: reads of cards, calls, and the doors to the rest', async () => {
    expect(gzipBytes(await startBundle())).toBeLessThanOrEqual(30 * 1024)
  })

  it('is at most 256 KiB with all that is loaded when it is first needed, most of it the client of MCP', async () => {
    expect(gzipBytes(await readFile('out/index.js', 'utf8'))).toBeLessThanOrEqual(256 * 1024)
  })
})

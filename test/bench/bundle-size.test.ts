import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { gzipBytes, hostBundle } from '../../bench/bundle.ts'

it('uploads at most 64 KiB, minified and gzipped', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'calling-card-bundle-'))
  try {
    expect(gzipBytes(await hostBundle(directory))).toBeLessThanOrEqual(64 * 1024)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { gzipBytes, hostBundle } from '../../bench/bundle.ts'

it('uploads at most 60 KiB, minified and gzipped: half of it cards, a fifth the gate, a tenth jose', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'calling-card-bundle-'))
  try {
    expect(gzipBytes(await hostBundle(directory))).toBeLessThanOrEqual(60 * 1024)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

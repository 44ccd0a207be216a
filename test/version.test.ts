import { describe, expect, it } from 'vitest'
import { name, version } from '../package.json'
import lock from '../package-lock.json'
import { VERSION } from '../src/version.ts'

describe('the version', () => {
  it('is that of package.json', () => {
    expect(VERSION).toBe(version)
  })

  it('is that of package-lock.json, twice', () => {
    expect([lock.version, lock.packages[''].version]).toEqual([VERSION, VERSION])
    expect(lock.name).toBe(name)
  })
})

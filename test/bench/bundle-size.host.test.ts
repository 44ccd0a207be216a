import { describe, expect, it } from 'vitest'
import { gzipBytes, readHost, startModules } from '../../bench/bundle.ts'

const host = readHost('out')

describe('the built Worker', () => {
  it('has at most 30 KiB, gzipped, that every start evaluates: card reads, calls, and the entries of everything else', () => {
    expect(gzipBytes(startModules(host))).toBeLessThanOrEqual(30 * 1024)
  })

  it('has at most 390 KiB, gzipped, in all, which only a deployment pays for: a start compiles what it evaluates', () => {
    expect(gzipBytes(host.modules)).toBeLessThanOrEqual(390 * 1024)
  })

  it('has no JSON Schema validator: the MCP client would bring one', () => {
    expect(Object.keys(host.modules).filter(name => host.modules[name]?.includes('Unresolved $ref'))).toEqual([])
  })

  it('has no schema of manifests in what the Registry loads for each write: only an import reads them there', () => {
    expect(host.modules['store.js']).not.toContain('must be public or internal')
    expect(host.modules['manifest.js']).toContain('must be public or internal')
  })

  it('evaluates at most 4 modules at a start, because each one costs time', () => {
    expect(Object.keys(startModules(host)).length).toBeLessThanOrEqual(4)
  })
})

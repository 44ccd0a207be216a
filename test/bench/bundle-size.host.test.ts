import { describe, expect, it } from 'vitest'
import { gzipBytes, readHost, readScripts, startModules, staticModules } from '../../bench/bundle.ts'

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

describe('the scripts of pages', () => {
  const scripts = readScripts('out')
  const sizeOf = (prefix: string): number => {
    const name = Object.keys(scripts).find(each => each.startsWith(`${prefix}-`)) ?? ''
    return gzipBytes(staticModules(scripts, name))
  }

  it('have at most 15 KiB, gzipped, that a page loads before it can be used', () => {
    for (const page of ['card-page', 'catalog-page', 'lint-page', 'manage'])
      expect(sizeOf(page), page).toBeLessThan(15 * 1024)
  })

  it('have at most 60 KiB, gzipped, in the console', () => {
    const [, opened = ''] = /import\([`'"]\.\/(console-[\w-]+\.js)/.exec(Object.values(scripts).join('')) ?? []
    const size = gzipBytes(staticModules(scripts, opened))
    expect(size).toBeGreaterThan(20 * 1024)
    expect(size).toBeLessThan(60 * 1024)
  })
})

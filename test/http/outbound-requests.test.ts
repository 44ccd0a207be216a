import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const src = `${import.meta.dirname}/../../src`
const sources = globSync('**/*.ts', { cwd: src, exclude: ['env.d.ts'] }).map(
  file => [file, readFileSync(`${src}/${file}`, 'utf8')] as const,
)

const filesWith = (pattern: RegExp): string[] => sources.filter(([, text]) => pattern.test(text)).map(([file]) => file)

// Biome finds the global `fetch` (noRestrictedGlobals in biome.json), because it resolves the name.
describe('src makes requests only through safeFetch', () => {
  it('does not use `fetch` as a member of the global object', () => {
    expect(filesWith(/\b(?:globalThis|self)\b(?:\.|\[')(?:fetch|WebSocket|EventSource)/)).toEqual([])
  })

  it('is checked by the linter, without exceptions but for what runs in a browser', () => {
    expect(filesWith(/biome-ignore.*noRestrictedGlobals/)).toEqual([])
    const { overrides } = JSON.parse(readFileSync(`${src}/../biome.json`, 'utf8'))
    expect(overrides).toContainEqual(
      expect.objectContaining({
        includes: ['src/**', '!src/http/safe-fetch.ts', '!src/pages/browser/**'],
        linter: { rules: { style: { noRestrictedGlobals: expect.objectContaining({ level: 'error' }) } } },
      }),
    )
  })

  it('uses no library and no module that makes requests itself', () => {
    expect(filesWith(/createRemoteJWKSet|cloudflare:sockets|['"]node:(?:https?|http2|net|tls|dgram)['"]/)).toEqual([])
  })

  it('passes a `fetch` to every MCP client', () => {
    const transports = sources.flatMap(([, text]) =>
      [...text.matchAll(/new (?:StreamableHTTP|SSE)ClientTransport\([\s\S]{0,300}/g)].map(([match]) => match),
    )
    expect(transports.filter(match => !/\bfetch\b/.test(match))).toEqual([])
  })

  it('calls service bindings in one module only, which does not trust their Content-Length', () => {
    expect(filesWith(/\b(?:service|binding|fetcher)\.fetch\(/i)).toEqual(['http/safe-fetch.ts'])
  })
})

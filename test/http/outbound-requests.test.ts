import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const src = `${import.meta.dirname}/../../src`
const code = globSync('**/*.ts', { cwd: src, exclude: ['env.d.ts'] }).map(
  file => [file, readFileSync(`${src}/${file}`, 'utf8')] as const,
)

const filesWith = (pattern: RegExp): string[] => code.filter(([, text]) => pattern.test(text)).map(([file]) => file)

// `fetch` by its own name is the linter's to find (noRestrictedGlobals in biome.json): it knows which one is meant.
describe('a request of this host goes through the guard', () => {
  it('whatever `fetch` is called by', () => {
    expect(filesWith(/\b(?:globalThis|self)\b(?:\.|\[')(?:fetch|WebSocket|EventSource)/)).toEqual([])
  })

  it('and the linter is not told to look away', () => {
    expect(filesWith(/biome-ignore.*noRestrictedGlobals/)).toEqual([])
    const { overrides } = JSON.parse(readFileSync(`${src}/../biome.json`, 'utf8'))
    expect(overrides).toContainEqual(
      expect.objectContaining({
        includes: ['src/**', '!src/http/safe-fetch.ts'],
        linter: { rules: { style: { noRestrictedGlobals: expect.objectContaining({ level: 'error' }) } } },
      }),
    )
  })

  it('though a library could make it', () => {
    expect(filesWith(/createRemoteJWKSet|cloudflare:sockets|['"]node:(?:https?|http2|net|tls|dgram)['"]/)).toEqual([])
  })

  it('of MCP clients too, which are given a `fetch`', () => {
    const transports = code.flatMap(([, text]) =>
      [...text.matchAll(/new (?:StreamableHTTP|SSE)ClientTransport\([\s\S]{0,300}/g)].map(([made]) => made),
    )
    expect(transports.filter(made => !/\bfetch\b/.test(made))).toEqual([])
  })

  it('or to a Worker that is bound to this one, whose lengths are not believed', () => {
    expect(filesWith(/\b(?:service|binding|fetcher)\.fetch\(/i)).toEqual(['http/bindings.ts'])
  })
})

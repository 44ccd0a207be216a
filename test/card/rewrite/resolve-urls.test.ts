import { describe, expect, it } from 'vitest'
import { resolveInterfaceUrls } from '../../../src/card/rewrite/rewrite-urls.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'

const base = 'https://a.example/agents/one/.well-known/agent-card.json'
const upstream = { card: base }
const fetched = { name: 'A', description: 'B', url: '/a2a' }

describe('a relative URL of an interface', () => {
  it('of a fetched card is resolved against the address of the card', () => {
    const urls = {
      '/a2a': 'https://a.example/a2a',
      '../a2a?x=1': 'https://a.example/agents/one/a2a?x=1',
      '//b.example/a2a': 'https://b.example/a2a',
    }
    for (const [url, resolved] of Object.entries(urls)) {
      const { direct, report, profile } = compileCard({ upstream }, { ...fetched, url })
      expect([direct.supportedInterfaces[0]?.url, profile.targets[0]?.url]).toStrictEqual([resolved, resolved])
      expect(report.converted).toStrictEqual([
        { pointer: '/url', message: `relative, resolved against the address of the card: ${resolved}` },
      ])
    }
  })

  it('is resolved in each list of interfaces', () => {
    for (const name of ['supportedInterfaces', 'additionalInterfaces', 'interfaces']) {
      const fields = { [name]: [{ url: '/x', transport: 'GRPC', protocolVersion: '1.0' }] }
      const { direct, report } = compileCard({ upstream }, { ...fetched, url: 'https://a.example/a2a', ...fields })
      expect(direct.supportedInterfaces.map(({ url }) => url)).toContain('https://a.example/x')
      expect(report.converted.map(note => note.pointer)).toContain(`/${name}/0/url`)
    }
  })

  it('is rejected where it may be something else', () => {
    for (const url of ['a2a', '/{{path}}', '/\\b.example', '/a b'])
      expect(getCompileErrors({ upstream }, { ...fetched, url }).map(({ pointer }) => pointer)).toStrictEqual(['/url'])
  })

  it('is rejected in the card of a manifest, which has no address', () => {
    expect(getCompileErrors({ ...fetched })[0]?.message).toMatch(/^is relative/)
    expect(
      getCompileErrors({ upstream, card: { url: '/a2a' } }, { ...fetched, url: 'https://a.example/' }),
    ).toStrictEqual([
      { pointer: '/card/url', message: 'is relative: it must be absolute, such as https://agent.example.com/a2a' },
    ])
  })

  it('is not reported where the manifest overrides it', () => {
    const document = { upstream, card: { url: 'https://b.example/a2a' } }
    expect(compileCard(document, fetched).report.converted).toStrictEqual([])
  })

  it('does not send a secret to another host', () => {
    const document = { upstream: { ...upstream, secret: 'TOKEN' } }
    expect(compileCard(document, fetched).profile.targets[0]?.url).toBe('https://a.example/a2a')
    expect(getCompileErrors(document, { ...fetched, url: '//b.example/a2a' })).toMatchObject([{ pointer: '/url' }])
  })

  it('makes signatures invalid, which are then left out', () => {
    const { documents, report } = compileCard(
      { upstream },
      { ...fetched, signatures: [{ protected: 'eyJhbGciOiJFUzI1NiJ9', signature: 'c2ln' }] },
    )
    expect([documents['1.0'].signatures, report.dropped['1.0']]).toStrictEqual([undefined, ['/signatures']])
  })

  it('leaves a card without one as it is', () => {
    const card = { ...fetched, url: 'https://a.example/a2a', interfaces: [{ url: '/page' }], supportedInterfaces: 5 }
    expect(resolveInterfaceUrls(card, base)).toStrictEqual({ card, notes: [] })
  })
})

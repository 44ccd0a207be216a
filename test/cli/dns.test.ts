import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../cli/cli.ts'
import { formatServiceBinding, parseServiceBinding } from '../../cli/dns/svcb.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { VERSION } from '../../src/version.ts'
import { card, Workspace } from './workspace.ts'

const hostUrl = 'https://cards.example.com'
const sha256 = 'ab'.repeat(32)
const digest = Buffer.from(sha256, 'hex').toString('base64url')

/** What the host has registered, by id, and what DNS has, by name. */
let agents: Record<string, JsonObject>
let zone: Record<string, string[]>
let answer: (name: string) => Response
let resolved: URL[]
beforeEach(() => {
  agents = {
    weather: { card: card('weather') as JsonObject },
    inside: { card: card('inside') as JsonObject, visibility: 'internal' },
    own: { card: card('own') as JsonObject, hosts: ['own.example.org'] },
  }
  zone = {}
  resolved = []
  answer = name => {
    const found = (zone[name] ?? []).map(data => ({ name: `${name}.`, type: 64, TTL: 300, data }))
    const alias = { name: `${name}.`, type: 5, TTL: 300, data: 'alias.example.' }
    const body = found.length > 0 ? { Status: 0, AD: true, Answer: [alias, ...found] } : { Status: 3, AD: true }
    return new Response(JSON.stringify(body), { headers: { 'Content-Type': 'application/dns-json' } })
  }
})

const fetch = async (input: unknown): Promise<Response> => {
  const url = new URL(String(input))
  if (url.hostname !== 'cards.example.com') {
    resolved.push(url)
    return answer(url.searchParams.get('name') ?? '')
  }
  const { pathname } = url
  if (pathname === '/health')
    return Response.json({ service: 'calling-card', version: VERSION, registry: 'reachable', missing: [] })
  if (pathname === '/agents') return Response.json({ agents: Object.keys(agents).map(id => ({ id })) })
  const [, id = '', rest] = /^\/agents\/([^/]+)\/(.*)$/.exec(pathname) ?? []
  const manifest = agents[id]
  if (!manifest) return Response.json({ code: 'agent-not-found' }, { status: 404 })
  if (rest === 'manifest') return Response.json(manifest, { headers: { ETag: '"m"' } })
  return manifest.visibility === 'internal'
    ? Response.json({ code: 'agent-not-found' }, { status: 404 })
    : Response.json({}, { headers: { ETag: `W/"${sha256}"` } })
}

const dns = async (args: string[], env: Record<string, string> = {}) => {
  const { io, output } = new Workspace().io({ SYNC_CARD_URL: hostUrl, SYNC_CARD_TOKEN: 'a-token-for-tests', ...env })
  const code = await run(['dns', ...args], { ...io, fetch: fetch as typeof globalThis.fetch })
  return { code, ...output() }
}

const params = (url: string) => `alpn="h2,http/1.1" port="443" key65400="${url}" key65401="${digest}" key65402="a2a"`

/** Publishes the records that the command prints. */
const publish = async (id: string, ...args: string[]): Promise<void> => {
  const { stdout } = await dns([id, ...args])
  for (const [, name = '', data = ''] of stdout.matchAll(/^(\S+)\. \d+ IN SVCB (.*)$/gm)) zone[name] = [data]
}

describe('sync-card dns', () => {
  it('prints the records of an agent as a part of a zone file', async () => {
    const url = `${hostUrl}/agents/weather/.well-known/agent-card.json`
    const { code, stdout } = await dns(['weather'])
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [
        `; Agent weather: ${url}`,
        '; DNS-AID (draft-mozleywilliams-dnsop-dnsaid-02). Replace the first record whenever the card changes.',
        '; the agent, and the SHA-256 of its card',
        `weather.cards.example.com. 300 IN SVCB 1 cards.example.com. ${params(url)}`,
        '; for clients that list the agents of the domain (optional)',
        'weather._agents.cards.example.com. 300 IN SVCB 0 weather.cards.example.com.',
        '; one for all agents of the domain: where their catalog is (optional)',
        '_index._agents.cards.example.com. 300 IN SVCB 1 cards.example.com. alpn="h2,http/1.1" port="443" key65409="ai-catalog.json"',
        '',
      ],
    ])
  })

  it.each<[string, string[], string, string]>([
    ['its host name', ['own'], 'own.example.org', 'own._agents.example.org'],
    ['its id below another domain', ['own', '--domain', 'Example.net.'], 'own.example.net', 'own._agents.example.net'],
    [
      'its id below the domain of the host',
      ['weather', '--domain', 'example.com'],
      'weather.example.com',
      'weather._agents.example.com',
    ],
  ])('names an agent by %s', async (_, args, owner, alias) => {
    const { stdout } = await dns([...args, '--ttl', '60'])
    expect([...stdout.matchAll(/^(\S+)\. 60 IN SVCB/gm)].map(([, name]) => name)).toEqual([
      owner,
      alias,
      alias.replace(/^\w+/, '_index'),
    ])
  })

  it('points to the card of a host name of its own by its path, too', async () => {
    const { stdout } = await dns(['own'])
    const url = 'https://own.example.org/.well-known/agent-card.json'
    expect(stdout).toContain(
      `own.example.org. 300 IN SVCB 1 own.example.org. ${params(url)} key65409="agent-card.json"\n`,
    )
  })

  it('names an agent whose host name is a whole domain by its id', async () => {
    agents.own = { card: card('own') as JsonObject, hosts: ['*', 'example.org'] }
    expect((await dns(['own'])).stdout).toContain('own.example.org. 300 IN SVCB 1 example.org. ')
  })

  it('prints them with --json', async () => {
    const { stdout } = await dns(['own', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      id: 'own',
      card: 'https://own.example.org/.well-known/agent-card.json',
      records: [
        { name: 'own.example.org', type: 'SVCB', priority: 1, params: { key65401: digest }, optional: false },
        { name: 'own._agents.example.org', priority: 0, target: 'own.example.org', params: {}, optional: true },
        { name: '_index._agents.example.org', target: 'cards.example.com' },
      ],
    })
  })

  it.each<[string, string[], Record<string, string>, number, string]>([
    [
      'an unknown agent',
      ['wether'],
      {},
      3,
      'The host has no agent "wether" that this token may read. Did you mean "weather"?',
    ],
    ['an internal agent', ['inside'], {}, 3, 'Agent "inside" is internal. Only public agents have DNS records.'],
    [
      'a host without the port of https',
      ['weather'],
      { SYNC_CARD_URL: 'https://cards.example.com:8443' },
      2,
      'is not a public host, with https and a name',
    ],
    [
      'a domain that is none',
      ['weather', '--domain', 'https://a.example/'],
      {},
      2,
      'It must be a domain such as example.com.',
    ],
    ['a TTL of nothing', ['weather', '--ttl', '0'], {}, 2, 'It must be 1 to 86400 seconds.'],
    ['an unencrypted resolver', ['weather', '--resolver', 'http://dns.example'], {}, 2, 'with https'],
    [
      'a name that is too long',
      ['weather', '--domain', `${'a.'.repeat(122)}example`],
      {},
      2,
      'is longer than a domain name can be',
    ],
  ])('rejects %s', async (_, args, env, expected, message) => {
    const { code, stderr } = await dns(args, env)
    expect([code, stderr]).toEqual([expected, expect.stringContaining(message)])
  })
})

describe('sync-card dns --verify', () => {
  it('reports that all records are present', async () => {
    await publish('own')
    expect(await dns(['own', '--verify'])).toMatchObject({
      code: 0,
      stdout: [
        '✓ own.example.org SVCB is present.',
        '✓ own._agents.example.org SVCB is present.',
        '✓ _index._agents.example.org SVCB is present.',
        '',
      ].join('\n'),
    })
    expect(resolved.map(String)).toContain('https://cloudflare-dns.com/dns-query?name=own.example.org&type=64')
  })

  it('accepts what other servers make of a record', async () => {
    await publish('own')
    zone['own.example.org'] = [
      `1 . mandatory=alpn alpn=h2,http/1.1 port=443 ipv4hint=192.0.2.1 key65400=https://own.example.org/.well-known/agent-card.json cap-sha256=${digest} bap=a2a well-known="agent-card\\.json"`,
    ]
    expect((await dns(['own', '--verify'])).code).toBe(0)
  })

  it('reports missing records with the lines to add, and exits 1 for that of the agent', async () => {
    const { code, stdout } = await dns(['own', '--verify'])
    expect([code, stdout.split('\n').slice(0, 3)]).toEqual([
      1,
      [
        '✗ own.example.org SVCB is missing. Add:',
        expect.stringMatching(/^ {4}own\.example\.org\. 300 IN SVCB 1 own/),
        '! own._agents.example.org SVCB is missing. It is optional. Add:',
      ],
    ])
    await publish('own')
    delete zone['_index._agents.example.org']
    expect((await dns(['own', '--verify'])).code).toBe(0)
  })

  it('reports both values where a record differs', async () => {
    await publish('own')
    const [data = ''] = zone['own.example.org'] ?? []
    const old = Buffer.alloc(32).toString('base64url')
    zone['own.example.org'] = ['0 nowhere.example.', data.replace(digest, old)]
    const { code, stdout } = await dns(['own', '--verify'])
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining(
        `✗ own.example.org SVCB differs.\n    key65401 (cap-sha256): expected ${digest}, found ${old}\n`,
      ),
    ])
    const { records } = JSON.parse((await dns(['own', '--verify', '--json'])).stdout)
    expect(records[0]).toMatchObject({
      state: 'different',
      dnssec: true,
      differences: [{ what: 'key65401 (cap-sha256)', expected: digest, found: old }],
    })
  })

  it('reports answers without DNSSEC', async () => {
    answer = () => Response.json({ Status: 0, AD: false, Answer: [] })
    expect((await dns(['own', '--verify'])).stdout).toContain('not signed with DNSSEC')
  })

  it.each<[string, () => Response, string]>([
    ['fails', () => Response.json({ Status: 2 }), 'cannot resolve own.example.org (status 2)'],
    ['has no JSON API', () => new Response('<p>'), 'responded with something other than JSON'],
    ['answers otherwise', () => Response.json({ answers: [] }), 'does not answer in JSON as dns.google does'],
  ])('exits 4 where the resolver %s', async (_, respond, message) => {
    answer = respond
    const { code, stderr } = await dns(['own', '--verify', '--resolver', 'https://dns.example/resolve'])
    expect([code, stderr, resolved[0]?.host]).toEqual([4, expect.stringContaining(message), 'dns.example'])
  })
})

describe('parseServiceBinding', () => {
  it('reads the example of RFC 9460 with an alpn in the form of RFC 3597', () => {
    // Appendix D.2, figure 3 with a port, and alpn=h2 by hand.
    const wire = '\\# 25 0010 03666f6f076578616d706c6503636f6d00 0003 0002 0035'
    expect(parseServiceBinding(wire)).toEqual({
      priority: 16,
      target: 'foo.example.com',
      params: new Map([['port', '53']]),
    })
    expect(parseServiceBinding('\\# 11 0001 00 0001 0003 026832')).toMatchObject({ params: new Map([['alpn', 'h2']]) })
  })

  it.each(['', '1', 'x y', '1 a.example "', '\\# 3 0001', '\\# 9 0001 00 0001 00ff 02', '\\# 7 0001 00 0003 0001 01'])(
    'reads nothing from %j',
    text => {
      const parsed = parseServiceBinding(text)
      expect(parsed === undefined || parsed.params.size === 0).toBe(true)
    },
  )

  it('reads what formatServiceBinding writes', () => {
    const value = fc.string({ unit: fc.constantFrom('a', '"', '\\', ' ', ',', '=', 'é') })
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^key[1-9]\d{1,4}$/), value), params => {
        const data = { priority: 1, target: 'a.example', params: new Map(Object.entries(params)) }
        expect(parseServiceBinding(formatServiceBinding(data))).toEqual(data)
      }),
    )
  })
})

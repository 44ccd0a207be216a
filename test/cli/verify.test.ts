import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../cli/cli.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { bilingualCard } from '../support/cards/cards.ts'
import { makeKey, signAtHost, type TestKey } from '../support/cards/signed.ts'
import { Workspace } from './workspace.ts'

const origin = 'https://agent.example'
const cardUrl = `${origin}/.well-known/agent-card.json`
const keySetUrl = `${origin}/.well-known/jwks.json`
const otherKeySetUrl = 'https://other.example/keys.json'

let author: TestKey
let other: TestKey
let signed: JsonObject
beforeAll(async () => {
  author = await makeKey()
  other = await makeKey()
  signed = await signAtHost(bilingualCard, author, keySetUrl)
})

/** What servers respond with, by URL, and the requests that they got. */
let served: Record<string, Json | Response>
let requested: string[]
beforeEach(() => {
  served = { [cardUrl]: signed, [keySetUrl]: { keys: [author.publicJwk] } }
  requested = []
})

const fetch = async (input: unknown, init?: RequestInit): Promise<Response> => {
  const version = new Headers(init?.headers).get('A2A-Version')
  requested.push(`${input}${version === null ? '' : ` ${version}`}`)
  const found = served[String(input)]
  if (found === undefined) throw new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND') })
  return found instanceof Response ? found.clone() : Response.json(found)
}

const verify = async (args: string[], files: Record<string, unknown> = {}) => {
  const { io, output } = new Workspace(files).io()
  const code = await run(['verify', ...args], { ...io, fetch: fetch as typeof globalThis.fetch })
  return { code, ...output() }
}

describe('sync-card verify URL', () => {
  it('prints who signed the card and which SDKs accept it', async () => {
    const { code, stdout } = await verify([cardUrl])
    expect([code, stdout.replaceAll(author.kid, 'KID')]).toEqual([
      0,
      [
        `✓ ${cardUrl} is signed with a trusted key.`,
        '  The keys are those that the server of the card publishes: a valid signature shows that the card is from that server.',
        '  Signatures',
        `  ✓  KID  proto: covers all but empty values and fields that A2A 1.0 does not define (key from ${keySetUrl})`,
        `  ✓  KID  wire: covers the whole card (key from ${keySetUrl})`,
        `  ✓  KID  served: covers all but default values of fields that are not required (key from ${keySetUrl})`,
        '  Verifiers',
        '  ✓  a2a-js 1.3, on the JSON of the card  accepts the card',
        '  ✗  a2a-js 1.3, through its resolver     loses the security schemes before it verifies the card (a2a-js #663), and no signature by a trusted key leaves them out',
        '  ✓  a2a-python 1.2 and later             accepts the card',
        '  ✓  a2a-python up to 1.1                 accepts the card',
        '  ✓  the rule of A2A 1.0 §8.4.1           accepts the card',
        '  ✓  a JWS library, on the served JSON    accepts the card',
        '',
      ].join('\n'),
    ])
    expect(requested).toEqual([cardUrl, `${cardUrl} 1.0`, keySetUrl])
  })

  it('takes an origin for the address of its well-known card', async () => {
    expect(await verify([origin])).toMatchObject({ code: 0, stdout: expect.stringContaining(`✓ ${origin} is signed`) })
  })

  it('follows a redirect once, and takes no keys of the origin that it leads to', async () => {
    const movedUrl = 'https://www.agent.example/card.json'
    served[cardUrl] = new Response(null, { status: 301, headers: { Location: movedUrl } })
    served[movedUrl] = signed
    expect(await verify([cardUrl])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        'https://www.agent.example/.well-known/jwks.json is not read: the card is redirected to this origin. To trust its keys, name the address there',
      ),
    })
    expect(requested).toEqual([cardUrl, movedUrl, `${movedUrl} 1.0`, keySetUrl])
  })

  it('exits 1 for a card that was changed', async () => {
    served[cardUrl] = { ...signed, supportedInterfaces: [] }
    const { code, stdout } = await verify([cardUrl])
    expect([code, stdout]).toEqual([1, expect.stringContaining('The card has no valid signature.')])
  })

  it('exits 1 for a card whose fields of A2A 0.3 were changed, and prints which', async () => {
    served[cardUrl] = { ...signed, protocolVersion: '0.2.0' }
    const { code, stdout } = await verify([cardUrl])
    const reason = 'covers the card in the form of A2A 1.0 only, which /protocolVersion contradicts'
    expect([code, stdout]).toEqual([1, expect.stringContaining(reason)])
  })

  it.each([
    ['a server that cannot be reached', 'https://gone.example/card.json', 'cannot be reached: getaddrinfo ENOTFOUND'],
    ['JSON that is no card', keySetUrl, 'responded with JSON that is not an Agent Card'],
    [
      'a card with a name twice',
      `${origin}/twice`,
      'responded with JSON in which /name is in its object twice, for the second time in line 1',
    ],
    ['a page', `${origin}/page`, 'responded with something other than JSON'],
  ])('exits 4 for %s', async (_, url, reason) => {
    served[`${origin}/twice`] = new Response('{"name":"A","name":"B","url":"https://a.example"}', {
      headers: { 'Content-Type': 'application/json' },
    })
    served[`${origin}/page`] = new Response('<p>', { headers: { 'Content-Type': 'text/html' } })
    expect(await verify([url])).toMatchObject({ code: 4, stdout: `✗ ${url} ${reason}.\n` })
  })

  it('accepts http on this machine only', async () => {
    for (const host of ['http://127.0.0.1:8787', 'http://agent.example']) {
      served[`${host}/agents/weather`] = await signAtHost(
        bilingualCard,
        author,
        'http://127.0.0.1:8787/.well-known/jwks.json',
      )
      served[`${host}/.well-known/jwks.json`] = { keys: [author.publicJwk] }
    }
    expect((await verify(['http://127.0.0.1:8787/agents/weather'])).code).toBe(0)
    expect(await verify(['http://agent.example/agents/weather'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('is not encrypted, so anybody on the way could replace the keys'),
    })
  })
})

describe('sync-card verify FILE', () => {
  const keys = () => ({ 'keys.json': { keys: [author.publicJwk] }, 'key.yaml': JSON.stringify(author.publicJwk) })

  it.each<[string, string]>([
    ['a file with a JWK Set', 'keys.json'],
    ['a file with a JWK', 'key.yaml'],
    ['the URL of a JWK Set', keySetUrl],
    ['a DID', 'did:web:agent.example'],
  ])('verifies a saved card with %s', async (_, key) => {
    served[`${origin}/.well-known/did.json`] = {
      id: 'did:web:agent.example',
      verificationMethod: [{ id: `did:web:agent.example#${author.kid}`, publicKeyJwk: author.publicJwk }],
    }
    const { code, stdout } = await verify(['card.json', '--key', key], { 'card.json': signed, ...keys() })
    expect([code, stdout]).toEqual([0, expect.stringContaining(`(key from ${key})`)])
  })

  it('takes a manifest, and several keys of which one fits', async () => {
    const files = { 'a.yaml': { id: 'a', card: signed }, 'other.json': other.publicJwk, ...keys() }
    expect((await verify(['a.yaml', '--key', 'other.json', '--key', 'keys.json'], files)).code).toBe(0)
    expect((await verify(['a.yaml', '--key', 'other.json'], files)).code).toBe(1)
  })

  it('follows a signature to its keys, but trusts none of them', async () => {
    served[otherKeySetUrl] = { keys: [other.publicJwk] }
    const { code, stdout } = await verify(['card.json'], {
      'card.json': await signAtHost(bilingualCard, other, otherKeySetUrl),
    })
    expect([code, stdout]).toEqual([1, expect.stringMatching(/No key is trusted\. The signer of the card chose.*✓/s)])
  })

  it('does not follow a signature to an address that is not public', async () => {
    const { stdout } = await verify(['card.json'], {
      'card.json': await signAtHost(bilingualCard, author, 'https://10.0.0.1/keys.json'),
    })
    expect([stdout, requested]).toEqual([
      expect.stringContaining('https://10.0.0.1/keys.json is no public address'),
      [],
    ])
  })

  it.each([
    ['is missing', 'none.json', /none\.json cannot be read/],
    ['is no JSON', 'broken.json', /broken\.json:1:2 is not JSON: [^.]+\.$/m],
    ['has a name twice', 'twice.json', /twice\.json:1:\d+ /m],
    ['has a list', 'list.json', /list\.json is not an Agent Card\./],
    ['has another document', 'package.json', /package\.json is not an Agent Card\./],
  ])('exits 3 for a file that %s', async (_, file, message) => {
    const files = {
      'twice.json': '{"name":"A","name":"B","url":"https://a.example"}',
      'broken.json': '{',
      'list.json': [],
      'package.json': { name: 'a', version: '1.0.0' },
    }
    expect(await verify([file], files)).toMatchObject({ code: 3, stdout: expect.stringMatching(message) })
  })
})

describe('sync-card verify --key', () => {
  it.each([
    ['a file that is missing', 'none.json', 'none.json cannot be read: ENOENT'],
    ['a file without a key', 'card.json', 'card.json has no public key for signatures'],
    ['a DID of another method', 'did:key:z6Mk', 'only DIDs of the method web are supported'],
    ['an unencrypted URL', 'http://agent.example/jwks.json', 'use https'],
  ])('exits 2 for %s', async (_, key, message) => {
    const { code, stdout, stderr } = await verify([cardUrl, '--key', key], { 'card.json': bilingualCard })
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)])
  })

  it.each([['https://gone.example/jwks.json'], ['did:web:gone.example']])(
    'exits 4 if %s cannot be reached',
    async key => {
      const { code, stdout } = await verify([cardUrl, '--key', key])
      expect([code, stdout]).toEqual([4, expect.stringContaining(`${key} cannot be reached: getaddrinfo ENOTFOUND`)])
    },
  )
})

describe('sync-card verify', () => {
  it('prints only that a card has no signatures', async () => {
    const { code, stdout } = await verify(['card.json'], { 'card.json': bilingualCard })
    expect([code, stdout]).toEqual([1, '✗ card.json is not verified. The card has no signatures.\n'])
  })

  it('prints one JSON object with --json, and the highest exit code of all cards', async () => {
    const { code, stdout } = await verify([cardUrl, 'card.json', '--json'], { 'card.json': bilingualCard })
    const { cards } = JSON.parse(stdout) as { cards: JsonObject[] }
    expect(cards).toMatchObject([
      { source: cardUrl, verified: true, trust: { basis: 'origin' }, keys: { sources: [keySetUrl], errors: [] } },
      { source: 'card.json', verified: false, reason: 'The card has no signatures.', signatures: [] },
    ])
    expect(code).toBe(1)
  })

  it('escapes control characters of a card', async () => {
    const header = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'JOSE', kid: 'a\u001b]0;b\u0007\nc' })).toString(
      'base64url',
    )
    const card = { ...bilingualCard, signatures: [{ protected: header, signature: 'AAAA' }] }
    const { stdout } = await verify(['card.json', '--key', 'keys.json'], {
      'card.json': card,
      'keys.json': author.publicJwk,
    })
    expect(stdout).toContain('✗  a\\u001b]0;b\\u0007\\nc ')
  })
})

describe('what a card names', () => {
  it.each([
    ['a URL without slashes', 'https:agent.example/../keys.json'],
    ['a URL after a tab', '\thttps://agent.example/../../../keys.json'],
  ])('reads no local file for a `jku` that is %s', async (_, jku) => {
    served = { [cardUrl]: await signAtHost(bilingualCard, other, jku) }
    const { code, stdout } = await verify([cardUrl], { 'keys.json': { keys: [other.publicJwk] } })
    expect(code).toBe(1)
    expect(stdout).toContain('is no URL')
  })

  it('commands no terminal', async () => {
    const [first] = signed.signatures as { protected: string; signature: string }[]
    const header = {
      ...JSON.parse(Buffer.from(first?.protected ?? '', 'base64url').toString()),
      alg: '\u001b]0;x\u0007\u009b2J',
    }
    const encoded = Buffer.from(JSON.stringify(header)).toString('base64url')
    served[cardUrl] = { ...signed, signatures: [{ ...first, protected: encoded }] }
    for (const args of [[cardUrl], ['--json', cardUrl]]) {
      const { stdout } = await verify(args)
      expect(stdout).not.toMatch(/(?!\n)\p{Cc}/u)
    }
  })
})

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../cli/cli.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { bilingualCard } from '../support/cards/cards.ts'
import { makeKey, signAtHost, type TestKey } from '../support/cards/signed.ts'
import { containing, matching, Workspace } from './workspace.ts'

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

const encode = (header: object): string => Buffer.from(JSON.stringify(header)).toString('base64url')

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
    expect(await verify([origin])).toMatchObject({ code: 0, stdout: containing(`✓ ${origin} is signed`) })
  })

  it('follows a redirect once, and takes no keys of the origin that it leads to', async () => {
    const movedUrl = 'https://www.agent.example/card.json'
    served[cardUrl] = new Response(null, { status: 301, headers: { Location: movedUrl } })
    served[movedUrl] = signed
    expect(await verify([cardUrl])).toMatchObject({
      code: 0,
      stdout: containing(
        'https://www.agent.example/.well-known/jwks.json is not read: the card is redirected to this origin. To trust its keys, name the address there',
      ),
    })
    expect(requested).toEqual([cardUrl, movedUrl, `${movedUrl} 1.0`, keySetUrl])
  })

  it('exits 1 for a card that was changed, also in its fields of A2A 0.3, and prints which', async () => {
    served[cardUrl] = { ...signed, supportedInterfaces: [] }
    expect(await verify([cardUrl])).toMatchObject({ code: 1, stdout: containing('The card has no valid signature.') })
    served[cardUrl] = { ...signed, protocolVersion: '0.2.0' }
    const reason = 'covers the card in the form of A2A 1.0 only, which /protocolVersion contradicts'
    expect(await verify([cardUrl])).toMatchObject({ code: 1, stdout: containing(reason) })
  })

  it('exits 4 for what is no card', async () => {
    const respond = (type: string, text: string) => new Response(text, { headers: { 'Content-Type': type } })
    served[`${origin}/twice`] = respond('application/json', '{"name":"A","name":"B","url":"https://a.example"}')
    served[`${origin}/page`] = respond('text/html', '<p>')
    const reasons = {
      'https://gone.example/card.json': 'cannot be reached: getaddrinfo ENOTFOUND',
      [keySetUrl]: 'responded with JSON that is not an Agent Card',
      [`${origin}/twice`]: 'responded with JSON in which /name is in its object twice, for the second time in line 1',
      [`${origin}/page`]: 'responded with something other than JSON',
    }
    for (const [url, reason] of Object.entries(reasons))
      expect(await verify([url])).toMatchObject({ code: 4, stdout: `✗ ${url} ${reason}.\n` })
  })

  it('accepts http on this machine only', async () => {
    for (const host of ['http://127.0.0.1:8787', 'http://agent.example']) {
      const keysOfHost = 'http://127.0.0.1:8787/.well-known/jwks.json'
      served[`${host}/agents/weather`] = await signAtHost(bilingualCard, author, keysOfHost)
      served[`${host}/.well-known/jwks.json`] = { keys: [author.publicJwk] }
    }
    expect((await verify(['http://127.0.0.1:8787/agents/weather'])).code).toBe(0)
    expect(await verify(['http://agent.example/agents/weather'])).toMatchObject({
      code: 1,
      stdout: containing('is not encrypted, so anybody on the way could replace the keys'),
    })
  })
})

describe('sync-card verify FILE', () => {
  const keys = () => ({ 'keys.json': { keys: [author.publicJwk] }, 'key.yaml': JSON.stringify(author.publicJwk) })

  it('verifies a saved card with keys of a file, a URL or a DID', async () => {
    const verificationMethod = [{ id: `did:web:agent.example#${author.kid}`, publicKeyJwk: author.publicJwk }]
    served[`${origin}/.well-known/did.json`] = { id: 'did:web:agent.example', verificationMethod }
    for (const key of ['keys.json', 'key.yaml', keySetUrl, 'did:web:agent.example']) {
      const stdout = containing(`(key from ${key})`)
      const files = { 'card.json': signed, ...keys() }
      expect(await verify(['card.json', '--key', key], files)).toMatchObject({ code: 0, stdout })
    }
  })

  it('takes a manifest, and several keys of which one fits', async () => {
    const files = { 'a.yaml': { id: 'a', card: signed }, 'other.json': other.publicJwk, ...keys() }
    expect((await verify(['a.yaml', '--key', 'other.json', '--key', 'keys.json'], files)).code).toBe(0)
    expect((await verify(['a.yaml', '--key', 'other.json'], files)).code).toBe(1)
  })

  it('follows a signature to its keys, but trusts none of them', async () => {
    served[otherKeySetUrl] = { keys: [other.publicJwk] }
    const files = { 'card.json': await signAtHost(bilingualCard, other, otherKeySetUrl) }
    const stdout = matching(/No key is trusted\. The signer of the card chose.*✓/s)
    expect(await verify(['card.json'], files)).toMatchObject({ code: 1, stdout })
  })

  it('does not follow a signature to an address that is not public', async () => {
    const files = { 'card.json': await signAtHost(bilingualCard, author, 'https://10.0.0.1/keys.json') }
    const { stdout } = await verify(['card.json'], files)
    expect([stdout, requested]).toEqual([containing('https://10.0.0.1/keys.json is no public address'), []])
  })

  it('exits 3 for a file that is no card', async () => {
    const files = {
      'broken.json': '{',
      'package.json': { name: 'a', version: '1.0.0' },
    }
    const messages = {
      'none.json': /none\.json cannot be read/,
      'broken.json': /broken\.json:1:2 is not JSON: [^.]+\.$/m,
      'package.json': /package\.json is not an Agent Card\./,
    }
    for (const [file, message] of Object.entries(messages))
      expect(await verify([file], files)).toMatchObject({ code: 3, stdout: matching(message) })
  })
})

describe('sync-card verify --key', () => {
  it('exits 2 for what is no key, and 4 if it cannot be reached', async () => {
    const messages = {
      'none.json': 'none.json cannot be read: ENOENT',
      'card.json': 'card.json has no public key for signatures',
      'did:key:z6Mk': 'only DIDs of the method web are supported',
      'http://agent.example/jwks.json': 'use https',
    }
    for (const [key, message] of Object.entries(messages)) {
      const ended = await verify([cardUrl, '--key', key], { 'card.json': bilingualCard })
      expect(ended).toEqual({ code: 2, stdout: '', stderr: containing(message) })
    }
    for (const key of ['https://gone.example/jwks.json', 'did:web:gone.example']) {
      const stdout = containing(`${key} cannot be reached: getaddrinfo ENOTFOUND`)
      expect(await verify([cardUrl, '--key', key])).toMatchObject({ code: 4, stdout })
    }
  })
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
})

describe('what a card names', () => {
  it('reads no local file, even with a `jku` that looks like a URL', async () => {
    for (const jku of ['https:agent.example/../keys.json', '\thttps://agent.example/../../../keys.json']) {
      served = { [cardUrl]: await signAtHost(bilingualCard, other, jku) }
      const ended = await verify([cardUrl], { 'keys.json': { keys: [other.publicJwk] } })
      expect(ended).toMatchObject({ code: 1, stdout: containing('is no URL') })
    }
  })

  it('commands no terminal', async () => {
    const [first] = signed.signatures as { protected: string; signature: string }[]
    const header = JSON.parse(Buffer.from(first?.protected ?? '', 'base64url').toString())
    const encoded = encode({ ...header, alg: '\u001b]0;x\u0007\u009b2J' })
    served[cardUrl] = { ...signed, signatures: [{ ...first, protected: encoded }] }
    for (const args of [[cardUrl], ['--json', cardUrl]]) {
      const { stdout } = await verify(args)
      expect(stdout).not.toMatch(/(?!\n)\p{Cc}/u)
    }
  })
})

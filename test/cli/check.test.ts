import { CompactSign, importJWK } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Receipt, ReceiptTest } from '../../src/card/model/receipt-format.ts'
import type { Json } from '../../src/json/json.ts'
import { canonicalJson } from '../../src/json/tree.ts'
import { makeSigningKey } from '../support/signing-key.ts'
import { json } from './fake-host.ts'
import { containing, useFakeHost } from './workspace.ts'

const { host, run } = useFakeHost()

const test = (more: Partial<ReceiptTest> = {}): ReceiptTest => ({
  ...{ id: 'unknown-task', title: 'Reports an unknown task as not found', through: 'gate', protocol: 'JSONRPC 1.0' },
  claimed: 'A2A requires error -32001',
  ...{ happened: 'error -32001 TASK_NOT_FOUND, HTTP 200, application/json', result: 'passed' },
  ...more,
})

const receiptOf = (...tests: ReceiptTest[]): Receipt => {
  const count = (result: ReceiptTest['result']) => tests.filter(test => test.result === result).length
  return {
    ...{ agent: 'weather', card: { version: '2.1.0', etag: '"abc"' }, checked: '2026-11-25T12:00:00.000Z' },
    ...{ host: 'https://cards.example.com', send: false },
    summary: { passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
    tests,
  }
}

const key = makeSigningKey()
const publicKey = { kty: 'EC', crv: 'P-256', x: key.x, y: key.y, kid: 'k-1', alg: 'ES256', use: 'sig' }

const sign = async (receipt: Receipt, header: { typ?: string; kid?: string } = {}): Promise<string> => {
  const jws = await new CompactSign(new TextEncoder().encode(canonicalJson(receipt as unknown as Json)))
    .setProtectedHeader({ alg: 'ES256', typ: 'calling-card-receipt+jws', kid: 'k-1', ...header })
    .sign(await importJWK(key, 'ES256'))
  return jws.replace(/\..*\./, '..')
}

let answer: { status: number; body: unknown }
let keys: unknown[] | undefined
beforeEach(() => {
  keys = [publicKey]
  host.faults = [
    ({ path }, response) => {
      if (path.endsWith('/check')) return Boolean(json(response, answer.status, answer.body))
      if (path !== '/.well-known/jwks.json') return false
      return Boolean(json(response, keys ? 200 : 404, keys ? { keys } : { code: 'no-signing-key' }))
    },
  ]
})

const returns = (receipt: Receipt, signature?: string) => {
  const signed = signature === undefined ? { unsigned: 'This host has no key to sign with.' } : { signature }
  answer = { status: 200, body: { receipt, current: true, ...signed } }
}
const check = (args: string) => run({}, `check ${args}`)
const sent = () => host.seen.find(({ path }) => path.endsWith('/check'))

describe('sync-card check', () => {
  it('prints a line for all tests that ended alike, and verifies the signature with the keys of the host', async () => {
    const receipt = receiptOf(
      test(),
      test({ protocol: 'HTTP+JSON 1.0' }),
      test({ through: 'direct', result: 'skipped', reason: 'The agent needs credentials.' }),
    )
    const signature = await sign(receipt)
    returns(receipt, signature)
    expect(await check('weather')).toMatchObject({
      code: 0,
      stdout: [
        'weather · card 2.1.0 · 2026-11-25T12:00:00.000Z · https://cards.example.com',
        '✓  gate    Reports an unknown task as not found (JSONRPC 1.0, HTTP+JSON 1.0)',
        '–  direct  Reports an unknown task as not found: The agent needs credentials. (JSONRPC 1.0)',
        '2 passed, 0 failed, 1 skipped (no message was sent; --send sends one)',
        'The receipt is signed by the host, with its key k-1.',
        '',
      ].join('\n'),
      stderr: '',
    })
    expect(sent()?.body).toBe('{}')
    const verification = { signature: 'valid', kid: 'k-1' }
    const { stdout } = await check('weather --json')
    expect(JSON.parse(stdout)).toEqual({ receipt, signature, current: true, verification })
  })

  it('exits with 1 if a test failed, and prints what was claimed and what happened', async () => {
    const more = { claimed: 'streaming: true', happened: 'error -32004', reason: 'It is refused.' }
    const other = test({ title: 'Serves its card', protocol: undefined })
    returns(receiptOf(test({ result: 'failed', ...more }), other))
    const { code, stdout } = await check('weather --send')
    expect(code).toBe(1)
    expect(stdout).toContain(
      '✗  gate  Reports an unknown task as not found: It is refused. (JSONRPC 1.0, streaming: true; observed: error -32004)',
    )
    expect(stdout).toContain('✓  gate  Serves its card\n')
    expect(stdout).toContain('The receipt proves nothing to others: This host has no key to sign with.')
    expect(sent()?.body).toBe('{"send":true}')
  })

  it('exits with 1 for a signature that is not of this host over this receipt', async () => {
    const receipt = receiptOf(test())
    const rows: [receipt: Receipt, signature: string][] = [
      [{ ...receipt, agent: 'other' }, await sign(receipt)],
      [receipt, await sign(receipt, { kid: 'k-2' })],
      [receipt, await sign(receipt, { typ: 'JOSE' })],
      // A payload of its own.
      [receipt, (await sign(receipt)).replace('..', '.e30.')],
    ]
    for (const [given, signature] of rows) {
      returns(given, signature)
      const stdout = containing('The signature is not one of this host over this receipt.')
      expect(await check('weather')).toMatchObject({ code: 1, stdout })
    }
  })

  it('does not repeat a check that has failed: it might have sent a message', async () => {
    answer = { status: 503, body: { code: 'unavailable', detail: 'No.' } }
    expect((await check('weather --send')).code).toBe(4)
    expect(host.seen.filter(({ path }) => path.endsWith('/check'))).toHaveLength(1)
  })
})

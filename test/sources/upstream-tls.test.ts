import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { fetchUpstreamCard } from '../../src/sources/upstream-card.ts'
import { envWith, sourceAt } from '../support/registrations.ts'
import { json, reply, startUpstream } from '../support/upstream.ts'

const file = (name: string) => readFileSync(`${import.meta.dirname}/../fixtures/tls/${name}.pem`, 'utf8')
const trusted = getCACertificates('default')

// All are for `localhost` and of one key, which is good for nothing else; `authority` is who signed the first two.
beforeAll(() => setDefaultCACertificates([...trusted, file('authority')]))
afterAll(() => setDefaultCACertificates(trusted))

it.each([
  ['valid', 'localhost', { card: {}, validators: {} }, ''],
  ['expired', 'localhost', { failure: { code: 'unreachable' } }, 'CERT_HAS_EXPIRED'],
  ['stranger', 'localhost', { failure: { code: 'unreachable' } }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['valid', '127.0.0.1', { failure: { code: 'unreachable' } }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
])('a card over TLS with the %s certificate of localhost, at %s: %j', async (certificate, host, expected, why) => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const fetches = vi.spyOn(globalThis, 'fetch')
  const server = await startUpstream({ tls: { key: file('key'), cert: file(certificate) } })
  server.respond(reply(200, json, '{}'))
  const origin = `https://${host}:${server.port}`
  const fetched = await fetchUpstreamCard(sourceAt(`${origin}/card`), undefined, envWith({ ALLOWED_ORIGINS: origin }))
  await server.close()
  expect(fetched).toMatchObject(expected)
  expect(error.mock.calls.length).toBe(why === '' ? 0 : 1)
  const thrown = await fetches.mock.results[0]?.value.then(() => undefined).catch((reason: unknown) => reason)
  expect(thrown?.cause?.code ?? '').toBe(why)
})

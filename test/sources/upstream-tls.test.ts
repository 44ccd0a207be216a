import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { fetchUpstreamCard } from '../../src/sources/upstream-card.ts'
import { envWith, sourceAt } from '../support/registrations.ts'
import { json, reply, startUpstream } from '../support/upstream.ts'

const file = (name: string) => readFileSync(`${import.meta.dirname}/../fixtures/tls/${name}.pem`, 'utf8')
const trusted = getCACertificates('default')

// All certificates are for `localhost` and share one test key. `authority` signed the valid and the expired one.
beforeAll(() => setDefaultCACertificates([...trusted, file('authority')]))
afterAll(() => setDefaultCACertificates(trusted))

it.each([
  ['accepts', 'valid', 'localhost', { card: {}, validators: {} }, ''],
  ['rejects', 'expired', 'localhost', { failure: { code: 'unreachable' } }, 'CERT_HAS_EXPIRED'],
  ['rejects', 'self-signed', 'localhost', { failure: { code: 'unreachable' } }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['rejects', 'valid', '127.0.0.1', { failure: { code: 'unreachable' } }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
])('fetchUpstreamCard %s the %s certificate of localhost at %s', async (_, certificate, host, expected, code) => {
  const logError = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const fetches = vi.spyOn(globalThis, 'fetch')
  const server = await startUpstream({ tls: { key: file('key'), cert: file(certificate) } })
  server.respond(reply(200, json, '{}'))
  const origin = `https://${host}:${server.port}`
  const fetched = await fetchUpstreamCard(sourceAt(`${origin}/card`), {}, envWith({ ALLOWED_ORIGINS: origin }))
  await server.close()
  expect(fetched).toMatchObject(expected)
  expect(logError).toHaveBeenCalledTimes(code === '' ? 0 : 1)
  const thrown = await fetches.mock.results[0]?.value.then(() => undefined).catch((reason: unknown) => reason)
  expect(thrown?.cause?.code ?? '').toBe(code)
})

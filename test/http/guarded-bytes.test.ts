import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fetchBytes } from '../../src/http/fetch-resource.ts'
import { says } from '../a2a/forwarding.ts'
import { startUpstream, type UpstreamServer } from '../a2a/upstream-server.ts'

let server: UpstreamServer
let elsewhere: UpstreamServer
beforeAll(async () => {
  server = await startUpstream()
  elsewhere = await startUpstream()
})
afterAll(() => {
  server.close()
  elsewhere.close()
})

const get = () =>
  fetchBytes(`${server.origin}/icon`, {
    accepts: type => type?.startsWith('image/') === true,
    allowedOrigins: server.origin,
    maxBytes: 1000,
  })

describe('a file that is fetched', () => {
  it.each([
    ['as it is', says(200, { 'Content-Type': 'image/png' }, Buffer.from([0x89, 0, 0xff]))],
    [
      'inflated',
      says(200, { 'Content-Type': 'image/png', 'Content-Encoding': 'gzip' }, gzipSync(Buffer.from([0x89, 0, 0xff]))),
    ],
  ])('comes byte for byte with its type: %s', async (_, how) => {
    server.answer(how)
    const answer = await get()
    if ('failed' in answer) throw new Error(answer.failed)
    expect([[...answer.content], answer.headers.get('Content-Type')]).toEqual([[0x89, 0, 0xff], 'image/png'])
  })

  it.each([
    ['too large', says(200, { 'Content-Type': 'image/png' }, Buffer.alloc(1001)), { failed: 'too-large' }],
    ['of another type', says(200, { 'Content-Type': 'text/html' }, '<script>'), { failed: 'type', type: 'text/html' }],
    ['gone', says(404, { 'Content-Type': 'image/png' }, ''), { failed: 'status', status: 404 }],
  ])('is none where it is %s', async (_, how, failure) => {
    server.answer(how)
    expect(await get()).toMatchObject(failure)
  })

  it('is judged again wherever it is sent on to', async () => {
    server.answer(says(302, { Location: elsewhere.origin }, ''))
    expect([await get(), elsewhere.asked]).toEqual([{ failed: 'blocked', detail: 'not https' }, []])
  })
})

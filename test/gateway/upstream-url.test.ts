import { describe, expect, it } from 'vitest'
import type { CallBinding, WireVersion } from '../../src/card/model/calls.ts'
import { upstreamUrl } from '../../src/gateway/upstream-request.ts'

const target = (url: string, version: WireVersion = '1.0', binding: CallBinding = 'HTTP+JSON') => ({
  url,
  version,
  binding,
})

describe('where a call goes', () => {
  it('is over JSON-RPC the endpoint as it is', () => {
    expect(upstreamUrl(target('https://a.example.com/a2a/?key=1', '1.0', 'JSONRPC'), 'ignored')).toBe(
      'https://a.example.com/a2a/?key=1',
    )
  })

  it.each([
    ['https://a.example.com', '1.0', 'message:send', 'https://a.example.com/message:send'],
    ['https://a.example.com/', '1.0', '/message:send', 'https://a.example.com/message:send'],
    ['https://a.example.com/a2a', '1.0', 'message:stream', 'https://a.example.com/a2a/message:stream'],
    ['https://a.example.com/a2a//', '1.0', 'message:stream', 'https://a.example.com/a2a/message:stream'],
    ['https://a.example.com/a2a', '1.0', 'tasks?pageSize=2', 'https://a.example.com/a2a/tasks?pageSize=2'],
    ['https://a.example.com/a2a?key=1', '1.0', 'tasks?pageSize=2', 'https://a.example.com/a2a/tasks?key=1&pageSize=2'],
    ['https://a.example.com', '1.0', 'tasks/a%2Fb:cancel', 'https://a.example.com/tasks/a%2Fb:cancel'],
    ['https://a.example.com', '1.0', 'tasks/a%20b', 'https://a.example.com/tasks/a%20b'],
    ['https://a.example.com', '1.0', 'tasks/..1', 'https://a.example.com/tasks/..1'],
    ['https://a.example.com/a2a', '0.3', 'v1/message:send', 'https://a.example.com/a2a/v1/message:send'],
    ['https://a.example.com/a2a/v1', '0.3', 'v1/message:send', 'https://a.example.com/a2a/v1/message:send'],
    [
      'https://a.example.com/v1/',
      '0.3',
      '/v1/tasks/1?historyLength=2',
      'https://a.example.com/v1/tasks/1?historyLength=2',
    ],
    ['https://a.example.com/v1', '1.0', 'message:send', 'https://a.example.com/v1/message:send'],
    [
      'https://a.example.com',
      '1.0',
      'tasks?A2A-Version=1.0.1&a2a-version=9&status=x',
      'https://a.example.com/tasks?status=x',
    ],
  ] as const)('is below the endpoint %s of HTTP+JSON %s for %s', (url, version, path, href) => {
    expect(upstreamUrl(target(url, version), path)).toBe(href)
  })

  it.each([
    ['north', 'message:send', 'https://a.example.com/a2a/north/message:send'],
    ['north', 'tasks?tenant=south&pageSize=2', 'https://a.example.com/a2a/north/tasks?pageSize=2'],
    ['a/b c?#%2F', 'tasks/1:cancel', 'https://a.example.com/a2a/a%2Fb%20c%3F%23%252F/tasks/1:cancel'],
    ['Zürich', 'tasks/1', 'https://a.example.com/a2a/Z%C3%BCrich/tasks/1'],
    ['..', 'tasks/1', undefined],
    ['.', 'tasks/1', undefined],
    ['...', 'tasks/1', 'https://a.example.com/a2a/.../tasks/1'],
  ])('is below the tenant %s for %s', (tenant, path, href) => {
    expect(upstreamUrl({ ...target('https://a.example.com/a2a'), tenant }, path)).toBe(href)
  })

  it('is no matter of a tenant over JSON-RPC, which names it among the parameters', () => {
    const url = 'https://a.example.com/a2a'
    expect(upstreamUrl({ ...target(url, '1.0', 'JSONRPC'), tenant: 'north' })).toBe(url)
  })

  it.each(['..', 'tasks/..', 'tasks/../../admin', 'tasks/%2e%2E/x', './x', 'tasks/.%2e', 'tasks\\..\\x', 'tasks/1#x'])(
    'is nowhere for a path that leads out of the endpoint: %s',
    path => {
      expect(upstreamUrl(target('https://a.example.com/a2a'), path)).toBeUndefined()
    },
  )
})

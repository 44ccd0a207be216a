import { describe, expect, it } from 'vitest'
import { upstreamUrl } from '../../src/a2a/upstream-url.ts'
import type { CallBinding, WireVersion } from '../../src/card/call-profile.ts'

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

  it.each(['..', 'tasks/..', 'tasks/../../admin', 'tasks/%2e%2E/x', './x', 'tasks/.%2e', 'tasks\\..\\x', 'tasks/1#x'])(
    'is nowhere for a path that leads out of the endpoint: %s',
    path => {
      expect(upstreamUrl(target('https://a.example.com/a2a'), path)).toBeUndefined()
    },
  )
})

import { describe, expect, it } from 'vitest'
import type { ResponseOf } from '../../src/api/client/index.ts'
import { describeGrant, summarizeGrant } from '../../src/pages/browser/manage/grant.ts'
import {
  ACTIONS,
  describeDetails,
  describeHead,
  describeObserved,
  describeReceipt,
  describeRevision,
  describeSeconds,
  describeSource,
  describeVerification,
} from '../../src/pages/browser/manage/wording.ts'
import { listWords, plural, shorten } from '../../src/pages/components/index.ts'
import { AUDITED } from '../../src/registry/audit/chain.ts'

const none = { answered: 0, refused: 0, failed: 0 }

const source = { kind: 'card', url: 'https://a.example/', ttl: 300, staleIfError: 86_400, pin: true, due: '' } as const

describe('the wording of the page of owners', () => {
  it('describe what a token allows', () => {
    for (const [grant, expected] of [
      [{ scopes: ['admin', 'read'], agents: ['*'], tiers: [] }, [/^It may do everything for all agents/]],
      [{ scopes: ['write'], agents: ['*'], tiers: [] }, [/remove and refresh all agents/, /Without the scope `read`/]],
      [
        { scopes: ['read', 'write'], agents: ['a'], tiers: ['*'] },
        [/refresh the agent `a`, and/, /read the agent `a`, .* extended cards of every tier/],
      ],
      [
        { scopes: ['call'], agents: ['a'], tiers: [] },
        [/read the agent `a`, internal ones too/, /^It may call the agent `a`\.$/],
      ],
      [
        { scopes: ['read'], agents: ['a-*', 'b'], tiers: ['x', 'y'] },
        [/the agents `a-\*` and `b` \(.*up to the tiers `x` and `y`/],
      ],
      [{ scopes: ['read'], agents: ['b'], tiers: [] }, [/extended cards of the base tier/]],
    ] as const) {
      const sentences = describeGrant(grant)
      expect(sentences, JSON.stringify(grant)).toHaveLength(expected.length)
      for (const [index, pattern] of expected.entries()) expect(sentences[index]).toMatch(pattern)
    }
  })

  it('summarize what a token allows', () => {
    for (const [scopes, agents, summary] of [
      [['write'], ['a-*', 'b'], 'may register and change `a-*` and `b`'],
      [['write'], ['*'], 'may register and change all agents'],
      [['admin', 'write'], ['*'], 'may do everything'],
    ] as const)
      expect(summarizeGrant({ scopes, agents }), summary).toBe(summary)
  })

  it('describe how a revision was made', () => {
    for (const [row, sentence] of [
      [{ by: 'manifest', author: 'admin' }, 'Registered by the ADMIN_TOKEN'],
      [{ by: 'removal', author: 'k1' }, 'Removed by the token `k1`'],
      [{ by: 'fetch', author: 'host' }, 'Fetched by this host, because the card had changed'],
      [{ by: 'fetch', author: 'k1' }, 'Fetched on request of the token `k1`'],
    ] as const)
      expect(describeRevision(row), JSON.stringify(row)).toBe(sentence)
  })

  it('describe a registration', () => {
    for (const [receipt, sentence] of [
      [
        { seq: 9, changed: true, class: 'additive' },
        '`a` is registered, as revision 9. For clients, the change is additive.',
      ],
      [{ seq: 9, changed: true }, '`a` is registered, as revision 9.'],
      [{ seq: 8, changed: false }, '`a` is registered as before: nothing has changed.'],
    ] as const)
      expect(describeReceipt({ id: 'a', ...receipt }), JSON.stringify(receipt)).toBe(sentence)
  })

  it('describe each state of a remote card', () => {
    for (const [state, part] of [
      ['fresh', 'confirmed it'],
      ['stale', 'the upstream fails'],
      ['no-card', 'clients get the status 504'],
      ['pending', 'waits for you'],
    ] as const) {
      const failure = { status: 504, code: 'timeout', message: 'Slow', since: '' } as const
      const [summary, times, pin] = describeSource({ ...source, state, failure })
      expect(summary, state).toContain(part)
      expect(times).toContain('fresh for 5 minutes, and is served for 1 day after that')
      expect(pin).toContain('waits until somebody accepts it')
      expect(describeSource({ ...source, state, pin: false })[2]).toMatch(
        /^A card that widens access is served .* set `pin`/,
      )
    }
  })

  it('describe which cards wait for approval where signatures are required', () => {
    for (const [pin, words] of [
      [true, /^A card that widens access, is not verified or is older waits/],
      [false, /^A card that is not verified, is older or requires less of callers waits .* set `pin`/],
    ] as const)
      expect(describeSource({ ...source, state: 'fresh', pin, verify: 'require' })[2], `${pin}`).toMatch(words)
  })

  const key = { kid: 'k', thumbprint: 't', from: 'did:web:a.example.com' }
  it('describes what signatures have shown', () => {
    const rows: [string, Partial<ResponseOf<'GET /agents/:id/source'>['source']>, string][] = [
      ['no keys', {}, 'are not verified: set `upstream.keys`'],
      [
        'a valid signature',
        { verify: 'require', verification: { at: '', verified: true, rule: 'wire', key } },
        'signed with the key `k` from `did:web:a.example.com` (rule `wire`)',
      ],
      [
        'an accepted card',
        {
          verify: 'require',
          verification: { at: '', verified: false, reason: 'it has no signatures', accepted: true },
        },
        'not verified: it has no signatures. Somebody has accepted it',
      ],
      ['no card yet', { verify: 'require' }, 'A card without a valid signature is not served'],
    ]
    for (const [name, more, text] of rows)
      expect(describeVerification({ ...source, state: 'fresh', ...more })[0], name).toContain(text)
  })

  it('describe the calls of an agent, the most frequent failures and media types first', () => {
    const sentences = describeObserved({
      calls: 8,
      errorRate: 0.375,
      failures: { 'http-500': 1, '-32004': 2 },
      streaming: { answered: 1, refused: 2, failed: 3 },
      pushNotifications: none,
      interfaces: [{ protocolBinding: 'JSONRPC', protocolVersion: '1.0', ...none, answered: 5 }],
      operations: { send: { ...none, failed: 1 } },
      mediaTypes: { 'text/plain': 1, 'image/png': 4 },
    })
    expect(sentences).toEqual([
      '37.5 % of the calls had no result: 2 calls with `-32004` and 1 call with `http-500`.',
      'Streams: 1 answered, 2 refused as not supported and 3 failed.',
      'JSONRPC in A2A 1.0: 5 answered.',
      'The operation `send`: 1 failed.',
      'The agent produced `image/png` (4 times) and `text/plain` (1 time).',
    ])
  })

  it('have a sentence for every kind of audit entry', () => {
    expect(Object.keys(ACTIONS)).toEqual([...AUDITED])
  })

  it('describe the details of an entry of the audit without digests and empty lists', () => {
    const details = { class: 'additive', manifest: '"9f86"', scopes: ['read', 'write'], tiers: [], expires: null }
    expect(describeDetails({ details })).toBe('class: additive · scopes: read, write')
    expect(describeDetails({})).toBe('')
  })

  it('tell whether the newest entry of the audit is signed', () => {
    expect(describeHead(null)).toBe('Nothing is recorded yet.')
    expect(describeHead({ number: 3 })).toContain('It is not signed')
    expect(describeHead({ number: 3, signature: 'x' })).toContain('number 3, and this host has signed it')
  })

  it('describe numbers of seconds', () => {
    for (const [seconds, text] of [
      [300, '5 minutes'],
      [86_400, '1 day'],
      [7200, '2 hours'],
      [90, '90 seconds'],
      [0, '0 seconds'],
    ] as const)
      expect(describeSeconds(seconds), text).toBe(text)
  })

  it('are cut between characters', () => {
    for (const [text, length, cut] of [
      ['short', 5, 'short'],
      ['longer', 5, 'longe…'],
      ['ab\u{1f600}', 3, 'ab…'],
      ['\ud83dab', 2, '\ufffda…'],
    ] as const)
      expect(shorten(text, length), JSON.stringify(text)).toBe(cut)
  })

  it('count and join', () => {
    expect([plural(1, 'entry'), plural(2, 'entry'), plural(2, 'day'), plural(0, 'agent')]).toEqual([
      '1 entry',
      '2 entries',
      '2 days',
      '0 agents',
    ])
    expect([[], ['a'], ['a', 'b', 'c'], ['a', 'b', 'c', 'd']].map(words => listWords(words, 'and', 3))).toEqual([
      '',
      'a',
      'a, b and c',
      'a, b, c and 1 more',
    ])
  })
})

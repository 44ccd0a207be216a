import type { ServerResponse } from 'node:http'
import { expect, it, vi } from 'vitest'
import { EXIT_CODE_MEANINGS } from '../../cli/exit-codes.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { NO_ENTRY_HASH, sealEntry } from '../../src/registry/audit/chain.ts'
import { type Fault, isPut, problem } from './fake-host.ts'
import { card, useFakeHost, Workspace } from './workspace.ts'

const { host, env, renew } = useFakeHost()

const inSync = card('a')
const withError = card('a', { url: 'https://a.example.com/agent.json' })
const withWarning = card('a', { skills: [{ id: 'ask', name: 'Ask', description: 'Ask', tags: ['a'] }] })
const remote = { upstream: { card: 'https://a.example.com/card.json' } }

/** A command, the owner's only card, and what the host has under its id and does. */
type Case = {
  args?: string[]
  file?: unknown
  registered?: unknown
  fault?: Fault
  env?: Record<string, string>
  interruptAt?: 'GET' | 'PUT'
  /** What fetch throws. */
  bug?: Error
}

const json = (response: ServerResponse, body: unknown, headers = {}): boolean =>
  Boolean(response.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body)))

const rejectPut =
  (status: number, code: string): Fault =>
  (seen, response) =>
    isPut()(seen) && Boolean(problem(response, status, code, 'No.'))

const remoteCardIs =
  (state: string): Fault =>
  ({ path }, response) =>
    path.endsWith('/source') && json(response, { source: { state } })

/** Has an audit of one entry, and no keys. */
const auditIs =
  (change: { what?: 'agent-changed'; signature?: string }): Fault =>
  ({ path }, response) => {
    const { what, ...signature } = change
    const event = { number: 1, time: '2027-01-01T00:00:00.000Z', actor: 'admin', what: 'agent-removed' } as const
    const entry = sealEntry({ ...event, previous: NO_ENTRY_HASH })
    if (!path.startsWith('/audit')) return Boolean(problem(response, 404, 'no-signing-key', 'None.'))
    const body = { entries: [{ ...entry, ...(what && { what }) }], head: { ...entry, ...signature } }
    return json(response, body)
  }

/** Has tested an agent, and has no keys. */
const receiptIs =
  (change: JsonObject, signature?: string): Fault =>
  ({ path }, response) => {
    if (!path.endsWith('/check')) return Boolean(problem(response, 404, 'no-signing-key', 'None.'))
    const counts = { passed: 1, failed: 0, skipped: 0 }
    const card = { version: '1.0.0', etag: '"a"' }
    const receipt = { agent: 'a', card, checked: '2027-01-01T00:00:00.000Z', host: host.url, send: false, tests: [] }
    const body = { receipt: { ...receipt, summary: counts, ...change }, current: true, ...(signature && { signature }) }
    return json(response, body)
  }

/** Has a key in each of the two secrets. */
const haveBothKeys: Fault = ({ path }, response) => {
  if (path !== '/keys') return false
  const time = '2027-01-01T00:00:00.000Z'
  const keys = [
    { kid: 'b', role: 'current', secret: 'SIGNING_KEY_2', signsFrom: time },
    { kid: 'a', role: 'previous', secret: 'SIGNING_KEY', retirable: '2027-01-02T00:00:00.000Z' },
  ]
  return json(response, { keys, unsigned: 0, cacheSeconds: 86_400, time })
}

const serveOldCard: Fault = ({ path }, response) =>
  path.endsWith('/agent-card.json') && json(response, {}, { ETag: '"old"' })

/** Every part of a documented meaning, with the ways to provoke it. */
const cases: Record<string, Record<string, Record<string, Case>>> = {
  0: {
    'in sync, no findings': {
      'a push': {},
      'an unchanged agent': { registered: { card: inSync } },
      'an audit that is whole': { args: ['audit', 'verify'], fault: auditIs({}) },
      '--check of what is in sync': { args: ['--check'], registered: { card: inSync } },
      '--check with a warning': { args: ['--check'], file: withWarning, registered: { card: withWarning } },
      'a push with a lint error and --force': { args: ['--force'], file: withError },
      lint: { args: ['lint'] },
      'lint with a warning': { args: ['lint'], file: withWarning },
    },
  },
  1: {
    '--check, --dry-run, diff, pull: something differs': {
      '--check': { args: ['--check'] },
      '--dry-run': { args: ['--dry-run'] },
      diff: { args: ['diff'] },
      pull: { args: ['pull', 'a'], registered: { card: withWarning } },
    },
    '--check, lint: a lint error': {
      '--check': { args: ['--check'], file: withError, registered: { card: withError } },
      lint: { args: ['lint'], file: withError },
    },
    '--strict: a lint error or warning': {
      'an error': { args: ['--strict', '--force'], file: withError },
      'lint with a warning': { args: ['lint', '--strict'], file: withWarning },
      'a warning': { args: ['--strict', '--check'], file: withWarning, registered: { card: withWarning } },
    },
    '--wait: not live in time': { '--wait': { args: ['--wait', '1'], fault: serveOldCard } },
    'an upstream card could not be fetched or waits for approval': {
      'not fetched': { file: remote, registered: remote, fault: remoteCardIs('no-card') },
      'waits for approval': { file: remote, registered: remote, fault: remoteCardIs('pending') },
    },
    'check: a test failed, or the signature is not valid': {
      'a test': { args: ['check', 'a'], fault: receiptIs({ summary: { passed: 1, failed: 1, skipped: 0 } }) },
      'the signature': { args: ['check', 'a'], fault: receiptIs({}, 'a..b') },
    },
    'audit verify: an entry or the signature does not fit': {
      'an entry': { args: ['audit', 'verify'], fault: auditIs({ what: 'agent-changed' }) },
      'the signature': { args: ['audit', 'verify'], fault: auditIs({ signature: 'a.b.c' }) },
    },
    'verify: a card has no valid signature by a trusted key': {
      'a card without signatures': { args: ['verify', 'cards/a.json'] },
    },
    'keys rotate, keys retire: a key is still needed, or the host has not changed its keys in time': {
      'a third key': { args: ['keys', 'rotate', '--print'], fault: haveBothKeys },
    },
  },
  2: {
    'wrong usage, or no cards': {
      'an unknown option': { args: ['--bogus'] },
      'a missing file': { args: ['bogus.json'] },
      'flags that exclude each other': { args: ['--watch', '--check'] },
      'a glob that matches nothing': { args: ['--only', 'b'] },
      'an empty folder': { args: ['empty'] },
      'no token': { args: ['--url', 'https://cards.example.com'], env: {} },
    },
    '--prune without a set, or of more than 10 agents without --yes': { 'no set': { args: ['--prune', '--yes'] } },
  },
  3: {
    'a file is invalid, or the host rejected it (invalid, host name taken, changed by somebody else)': {
      'an invalid file': { file: '{' },
      'lint of an invalid file': { args: ['lint'], file: '{' },
      'an invalid card': { fault: rejectPut(422, 'invalid-card') },
      'a host name that is taken': { fault: rejectPut(409, 'host-taken') },
      'changed by somebody else': {
        registered: { card: withWarning },
        fault: seen => {
          if (isPut()(seen)) host.register('a', { card: withError })
          return false
        },
      },
    },
    'a lint error stops a push without --force': {
      'a push': { file: withError },
      '--dry-run': { args: ['--dry-run'], file: withError },
    },
    'an agent belongs to another set': { 'another set': { registered: { card: inSync, set: 'theirs' } } },
  },
  4: {
    'the host is unreachable, or rejects the token': {
      'an unreachable host': { args: ['--retries', '0'], fault: (_, response) => Boolean(response.socket?.destroy()) },
      'a wrong token': { args: ['--token', 'another'] },
      'a token for other agents': { fault: (_, response) => Boolean(problem(response, 403, 'forbidden', 'No.')) },
    },
  },
  70: { 'a bug: the program has crashed': { 'an unexpected error': { args: ['list'], bug: new Error('boom') } } },
  130: {
    'interrupted (Ctrl-C) before everything was done': {
      'while it compares': { interruptAt: 'GET' },
      'while it pushes': { args: ['cards', 'more'], interruptAt: 'PUT' },
      'with --watch': { args: ['--watch'], interruptAt: 'GET' },
    },
  },
}

it.each(Object.entries(cases))('sync-card exits with %s in every documented case', async (code, meanings) => {
  for (const [meaning, ways] of Object.entries(meanings))
    for (const [way, given] of Object.entries(ways)) {
      renew()
      const { args = [], file = inSync, registered, fault, env: variables = env, interruptAt, bug } = given
      const fetch = bug && vi.spyOn(globalThis, 'fetch').mockRejectedValue(bug)
      if (registered !== undefined) host.register('a', registered)
      const workspace = new Workspace({ 'cards/a.json': file, 'more/b.json': card('b'), 'empty/notes.txt': '' })
      const command = workspace.start(args, variables)
      host.faults = [
        seen => {
          if (seen.method === interruptAt) command.interrupt()
          return false
        },
        ...(fault ? [fault] : []),
      ]
      const ended = await command.ended
      fetch?.mockRestore()
      expect(ended.code, `${meaning}: ${way}\n${ended.stdout}${ended.stderr}`).toBe(Number(code))
    }
})

it('each documented meaning of an exit code has a test', () => {
  const documented = Object.entries(EXIT_CODE_MEANINGS).map(([code, meaning]) => [code, meaning.split('; ')])
  expect(Object.entries(cases).map(([code, meanings]) => [code, Object.keys(meanings)])).toEqual(documented)
})

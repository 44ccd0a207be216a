import { beforeEach, describe, expect, it } from 'vitest'
import { createSigningKey } from '../../cli/keys/index.ts'
import { getSigningKeys } from '../../src/signing/keys.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { KeysHost } from './keys-host.ts'
import { Workspace } from './workspace.ts'

const now = Date.parse('2026-11-26T12:00:00Z')
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const secondsOf = (ms: number): number => ms / 1000

let host: KeysHost
beforeEach(async () => {
  host = await KeysHost.start(now)
})

/** Makes the host have keys that sign since these times, under the names of their secrets. */
const have = (times: Record<string, number>): Record<string, string> => {
  const keys = Object.entries(times).map(([name, time]) => [name, createSigningKey(secondsOf(time))] as const)
  host.store(Object.fromEntries(keys))
  return Object.fromEntries(keys.map(([name, { kid }]) => [name, kid]))
}

let agents = 0

/** Makes the host have a card that is signed with the keys that it has, and returns its agent. Hosts of one file share the cache of an isolate. */
const register = async (): Promise<string> => {
  const id = `weather-${++agents}`
  await host.fetch('/health')
  await host.put(id, minimalCard)
  return id
}

const kidOf = (secret = '{}'): string => JSON.parse(secret).kid

describe('sync-card keys', () => {
  it.each(['create', 'rotate'])('%s stores nothing while wrangler cannot list the secrets (exit 4)', async command => {
    have({ SIGNING_KEY: now - DAY })
    await host.fetch('/health')
    host.isDeployed = false
    host.store({ SIGNING_KEY_2: createSigningKey() })
    const { SIGNING_KEY_2 } = host.secrets
    const env = { LIST_FAILURE: 'A request to the Cloudflare API failed. Worker "weather" not found. [code: 10013]' }
    const { code, stderr } = await host.run([command], env)
    expect([code, host.calls, host.secrets.SIGNING_KEY_2]).toEqual([4, [], SIGNING_KEY_2])
    expect(stderr).toContain('The key was not stored: wrangler could not list the secrets of the Worker')
  })
})

describe('sync-card keys create', () => {
  it('stores a new key as a secret of the Worker, and shows only its id', async () => {
    const { code, stdout, stderr } = await host.run(['create', '--', '--env', 'staging'])
    expect([code, stdout, host.calls]).toEqual([0, '', [['secret', 'put', 'SIGNING_KEY', '--env', 'staging']]])
    const { SIGNING_KEY = '' } = host.secrets
    const { d, kid } = JSON.parse(SIGNING_KEY)
    expect(await getSigningKeys({ SIGNING_KEY })).toMatchObject({ current: { kid, signsFrom: 0 } })
    expect(stderr).toBe(`SIGNING_KEY is now ${kid}; it was not displayed.\n`)
    expect(stderr + host.calls).not.toContain(d)
  })

  it('prints the secret instead with --print, and nothing else', async () => {
    const { code, stdout, stderr } = await host.run(['create', '--print'])
    expect([code, stderr, host.calls]).toEqual([0, '', []])
    expect(await getSigningKeys({ SIGNING_KEY: stdout })).toHaveProperty('current')
  })

  it('makes another key each time, whose id is no option of a command line', () => {
    const kids = Array.from({ length: 200 }, () => createSigningKey().kid)
    expect([new Set(kids).size, kids.filter(kid => kid.startsWith('-'))]).toEqual([200, []])
  })

  it.each(['SIGNING_KEY', 'SIGNING_KEY_2'])(
    'replaces no key in %s, and names the command that does (exit 2)',
    async name => {
      host.store({ [name]: createSigningKey() })
      const { code, stderr } = await host.run(['create'])
      expect([code, stderr, host.calls]).toEqual([2, expect.stringContaining('npx sync-card keys rotate'), []])
      expect(stderr).toContain(`The Worker has a ${name} already`)
    },
  )

  it('returns the exit code of wrangler', async () => {
    expect(await host.run(['create'], { EXIT_CODE: '7' })).toEqual({
      code: 7,
      stdout: '',
      stderr:
        'sync-card: The key was not stored: wrangler ended with the exit code 7. If you are not logged in, run `npx wrangler login`, then try again.\n',
    })
  })

  it('creates the key of a Worker that does not exist yet', async () => {
    const env = { LIST_FAILURE: 'Worker "calling-card" (env: staging) not found.\n\nIf this is a new Worker, run …' }
    const { code } = await host.run(['create'], env)
    expect([code, host.calls]).toEqual([0, [['secret', 'put', 'SIGNING_KEY']]])
  })

  it('stores nothing for a host on this machine, which wrangler does not deploy to (exit 2)', async () => {
    const { code, stderr } = await host.run(['create'], { SYNC_CARD_URL: 'http://127.0.0.1:8787' })
    expect([code, stderr, host.calls]).toEqual([2, expect.stringContaining('is a host on this machine'), []])
  })

  it('reports that wrangler is missing (exit 2)', async () => {
    const { code, stderr } = await new Workspace().run(['keys', 'create'], { PATH: '/nowhere' })
    expect([code, stderr]).toEqual([2, expect.stringContaining('run this in a clone of the host, after npm ci')])
  })
})

describe('sync-card keys rotate', () => {
  it('publishes the next key in the free secret, which signs ten minutes later, and shows what happens when', async () => {
    const { SIGNING_KEY_2: old } = have({ SIGNING_KEY_2: now - DAY })
    const { code, stdout, stderr } = await host.run(['rotate', '--', '--env', 'staging'])
    const next = kidOf(host.secrets.SIGNING_KEY)
    expect([code, stderr, host.calls]).toEqual([0, '', [['secret', 'put', 'SIGNING_KEY', '--env', 'staging']]])
    expect(stdout.trimEnd().split('\n')).toEqual([
      `now                   ${next} is published, and signs nothing`,
      `2026-11-26 12:10 UTC  it signs everything; ${old} also signs cards`,
      `2026-11-27 12:12 UTC  no cache serves a card that only ${old} has signed: npx sync-card keys retire`,
    ])
    expect(await host.roles()).toEqual({ current: old, next })
    await host.advance(10 * MINUTE)
    expect(await host.roles()).toEqual({ current: next, previous: old })
  })

  it('prints the next key and the name of its secret with --print, and stores nothing', async () => {
    have({ SIGNING_KEY: now - DAY })
    const { code, stdout, stderr } = await host.run(['rotate', '--print'])
    expect([code, JSON.parse(stdout).nbf, host.calls]).toEqual([0, secondsOf(now + 10 * MINUTE), []])
    expect(stderr).toBe('Store it as SIGNING_KEY_2 before 2026-11-26T12:10:00.000Z, when it begins to sign.\n')
  })

  it.each([
    [
      'next',
      { SIGNING_KEY: now - DAY, SIGNING_KEY_2: now + MINUTE },
      'signs from 2026-11-26T12:01:00.000Z on. To give it up: npx sync-card keys retire next',
    ],
    [
      'previous',
      { SIGNING_KEY: now - 9 * DAY, SIGNING_KEY_2: now - 60 * MINUTE },
      'must be retired first, which is possible from 2026-11-27 11:02 UTC on (in 24 hours): npx sync-card keys retire',
    ],
    [
      'previous',
      { SIGNING_KEY: now - 9 * DAY, SIGNING_KEY_2: now - 8 * DAY },
      'must be retired first: npx sync-card keys retire',
    ],
  ])('makes no third key beside the current and the %s one (exit 1)', async (role, times, message) => {
    have(times)
    const { [role]: kid = '' } = await host.roles()
    const { code, stderr } = await host.run(['rotate'])
    expect([code, host.calls]).toEqual([1, []])
    expect(stderr).toContain(kid)
    expect(stderr).toContain(message)
  })

  it.each<[string, () => void, Record<string, string>, number, string]>([
    [
      'for a host without keys',
      () => {},
      {},
      3,
      'This Worker has no SIGNING_KEY. Create one: npx sync-card keys create',
    ],
    [
      'for a host on this machine, which wrangler does not deploy to',
      () => {},
      { SYNC_CARD_URL: 'http://127.0.0.1:8787' },
      2,
      'Name the deployed one with --host or --url',
    ],
    [
      'over another key of another Worker that wrangler sees',
      () => {
        have({ SIGNING_KEY: now, SIGNING_KEY_2: now - DAY })
        host.isDeployed = false
      },
      {},
      3,
      'This Worker has no SIGNING_KEY',
    ],
  ])('stores nothing %s', async (_, prepare, env, exitCode, message) => {
    prepare()
    const { code, stderr } = await host.run(['rotate'], env)
    expect([code, stderr, host.calls]).toEqual([exitCode, expect.stringContaining(message), []])
  })

  it('stores nothing in a secret that only the Worker of wrangler has (exit 2)', async () => {
    have({ SIGNING_KEY: now - DAY })
    await host.fetch('/health')
    host.isDeployed = false
    have({ SIGNING_KEY: now - DAY, SIGNING_KEY_2: now })
    const { code, stderr } = await host.run(['rotate'])
    expect([code, stderr, host.calls]).toEqual([2, expect.stringContaining('such as -- --env staging'), []])
  })

  it('reports that the host does not get the key (exit 1)', async () => {
    have({ SIGNING_KEY: now - DAY })
    await host.fetch('/health')
    host.isDeployed = false
    const { code, stdout, stderr } = await host.run(['rotate'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('has not changed its keys within 2 minutes. Is it the Worker that wrangler has changed?')
  })
})

describe('sync-card keys retire', () => {
  const rotated = { SIGNING_KEY: now - 9 * DAY, SIGNING_KEY_2: now - 8 * DAY }

  it.each([[[]], [['previous']]])('deletes the previous key once no cache needs it: %j', async words => {
    const { SIGNING_KEY: old, SIGNING_KEY_2: current } = have(rotated)
    const { code, stdout } = await host.run(['retire', ...words, '--', '--name', 'cards'])
    expect([code, host.calls]).toEqual([0, [['secret', 'delete', 'SIGNING_KEY', '--name', 'cards']]])
    expect(stdout).toBe(`Retired ${old}: SIGNING_KEY is free for the next key.\n`)
    expect(await host.roles()).toEqual({ current })
  })

  it('deletes the next key, which has signed nothing', async () => {
    const { SIGNING_KEY: current, SIGNING_KEY_2: next = '' } = have({
      SIGNING_KEY: now - DAY,
      SIGNING_KEY_2: now + 5 * MINUTE,
    })
    expect(await host.run(['retire', next])).toMatchObject({ code: 0 })
    expect(await host.roles()).toEqual({ current })
  })

  it.each<[string, () => Promise<unknown>, string]>([
    [
      'while a cache may serve a card that it signed alone',
      async () => have({ SIGNING_KEY: now - 9 * DAY, SIGNING_KEY_2: now - 60 * MINUTE }),
      'from 2026-11-27 11:02 UTC on (in 24 hours)',
    ],
    [
      'while a card is still to be signed again',
      async () => {
        have({ SIGNING_KEY: now - 9 * DAY })
        await register()
        host.store({
          ...{ SIGNING_KEY: JSON.parse(host.secrets.SIGNING_KEY ?? '') },
          SIGNING_KEY_2: createSigningKey(secondsOf(now - 8 * DAY)),
        })
      },
      'once 1 agent more is signed again',
    ],
  ])('deletes no key %s, and shows when it can (exit 1)', async (_, prepare, when) => {
    await prepare()
    const { code, stderr } = await host.run(['retire'])
    expect([code, host.calls]).toEqual([1, []])
    expect(stderr).toMatch(/^sync-card: The previous key [\w-]{43} can be retired /)
    expect(stderr).toContain(when)
  })

  it.each([
    [['retire'], 'There is no previous key to retire. The keys are'],
    [['retire', 'AgfJ'], 'The host has no key "AgfJ". The keys are'],
    [['retire', 'current'], 'is in use. Make the next key first: npx sync-card keys rotate. If it has leaked: npx'],
    [['retire', '--now'], '--now needs the kid of the key that has leaked'],
  ])('rejects %j (exit 2)', async (args, message) => {
    have({ SIGNING_KEY: now - DAY })
    const { code, stderr } = await host.run(args)
    expect([code, stderr, host.calls]).toEqual([2, expect.stringContaining(message), []])
  })

  it('returns the exit code of wrangler', async () => {
    have(rotated)
    expect(await host.run(['retire'], { EXIT_CODE: '7' })).toMatchObject({
      code: 7,
      stdout: '',
      stderr: expect.stringContaining('The key was not retired'),
    })
  })

  it('reports that the host keeps the key (exit 1)', async () => {
    have(rotated)
    await host.fetch('/health')
    host.isDeployed = false
    const { code, stderr } = await host.run(['retire'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('has not changed its keys within 2 minutes')])
  })
})

describe('sync-card keys retire --now', () => {
  const current = now - 8 * DAY
  const previous = now - 9 * DAY
  const next = now + 5 * MINUTE
  const cards = 'caches may serve cards that it signed'

  it.each<{ leaked: string; times: Record<string, number>; call: string; after: string[]; remains: string[] }>([
    {
      leaked: 'current',
      times: { SIGNING_KEY: current },
      call: 'put SIGNING_KEY',
      after: ['current'],
      remains: [`${cards}, which no other key has signed: verifiers refuse them`],
    },
    {
      leaked: 'current',
      times: { SIGNING_KEY: previous, SIGNING_KEY_2: current },
      call: 'put SIGNING_KEY_2',
      after: ['current', 'previous'],
      remains: [`${cards}, which another key has signed as well`],
    },
    {
      leaked: 'current',
      times: { SIGNING_KEY: current, SIGNING_KEY_2: next },
      call: 'delete SIGNING_KEY',
      after: ['current'],
      remains: [`${cards}, which no other key has signed: verifiers refuse them`],
    },
    {
      leaked: 'previous',
      times: { SIGNING_KEY: previous, SIGNING_KEY_2: current },
      call: 'delete SIGNING_KEY',
      after: ['current'],
      remains: [`${cards}, which another key has signed as well`],
    },
    {
      leaked: 'previous',
      times: { SIGNING_KEY: previous, SIGNING_KEY_2: now - MINUTE },
      call: 'delete SIGNING_KEY',
      after: ['current'],
      remains: [`${cards}, which no other key has signed: verifiers refuse them`],
    },
    {
      leaked: 'next',
      times: { SIGNING_KEY: current, SIGNING_KEY_2: next },
      call: 'delete SIGNING_KEY_2',
      after: ['current'],
      remains: [],
    },
  ])(
    'of the $leaked key of $times makes wrangler $call, and waits for the cards',
    async ({ leaked, times, call, after, remains }) => {
      have(times)
      const id = await register()
      await host.advance(MINUTE)
      const { [leaked]: kid = '' } = await host.roles()
      const { code, stdout } = await host.run(['retire', kid, '--now'])
      expect([code, host.calls]).toEqual([0, [['secret', ...call.split(' ')]]])
      const roles = await host.roles()
      expect([Object.keys(roles), Object.values(roles)]).toEqual([after, expect.not.arrayContaining([kid])])
      expect((await host.keys()).unsigned).toBe(0)
      expect(stdout).toContain(`${kid} signs nothing any more, and is not published.`)
      expect(stdout).toMatch(
        /^until 2026-11-26 12:0[678] UTC {2}verifiers that have fetched the keys before may accept it$/m,
      )
      expect(stdout.match(/^until 2026-11-27 12:0[345] UTC {2}.*$/gm)?.map(line => line.slice(28)) ?? []).toEqual(
        remains,
      )
      await host.advance(MINUTE)
      expect(await host.signersOf(id)).not.toContain(kid)
      expect(await host.signersOf(id)).toContain(roles.current)
    },
  )

  it('ends when it is interrupted while it waits (exit 130)', async () => {
    have({ SIGNING_KEY: current })
    await host.fetch('/health')
    host.isDeployed = false
    const { current: kid = '' } = await host.roles()
    expect(await host.run(['retire', kid, '--now'], {}, true)).toMatchObject({ code: 130, stdout: '' })
  })

  it('reports that cards are still to be signed again (exit 1)', async () => {
    have({ SIGNING_KEY: current })
    await register()
    const { current: kid = '' } = await host.roles()
    host.ringsAlarms = false
    const { code, stdout, stderr } = await host.run(['retire', kid, '--now'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('The host has not signed all cards again yet. npx sync-card keys list shows')
  })
})

describe('sync-card keys list', () => {
  it('shows the role, secret and time of each key, and what is next to do', async () => {
    host.store({ SIGNING_KEY: createSigningKey(), SIGNING_KEY_2: createSigningKey(secondsOf(now + 5 * MINUTE)) })
    const { current, next } = await host.roles()
    const { code, stdout } = await host.run(['list'])
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map(line => line.split(/ {2,}/))
    expect([code, rows]).toEqual([
      0,
      [
        ['role', 'kid', 'secret', 'signs since', 'next'],
        ['current', current, 'SIGNING_KEY', 'the beginning', '-'],
        ['next', next, 'SIGNING_KEY_2', 'not yet', 'signs everything from 2026-11-26 12:05 UTC on'],
      ],
    ])
  })

  it.each([
    [{ SIGNING_KEY: now - DAY }, 'sync-card keys rotate replaces it'],
    [
      { SIGNING_KEY: now - DAY, SIGNING_KEY_2: now - MINUTE },
      'npx sync-card keys retire, from 2026-11-27 12:01 UTC on (in 25 hours)',
    ],
    [{ SIGNING_KEY: now - 9 * DAY, SIGNING_KEY_2: now - 8 * DAY }, 'npx sync-card keys retire\n'],
  ])('names the command for %j', async (times, next) => {
    have(times)
    expect((await host.run(['list'])).stdout).toContain(next)
  })

  it('suggests no rotation of the keys of a host on this machine', async () => {
    have({ SIGNING_KEY: now - DAY })
    const { code, stdout } = await host.run(['list'], { SYNC_CARD_URL: 'http://127.0.0.1:8787' })
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('rotate')])
  })

  it('prints what the host has reported with --json', async () => {
    have({ SIGNING_KEY: now - DAY })
    expect(JSON.parse((await host.run(['list', '--json'])).stdout)).toEqual(await host.keys())
  })

  it('reports how many agents wait for being signed again', async () => {
    have({ SIGNING_KEY: now - DAY })
    await register()
    host.store({ SIGNING_KEY: createSigningKey(secondsOf(now)) })
    expect((await host.run(['list'])).stderr).toBe('Agents that wait for being signed again: 1.\n')
  })

  it('needs a token with the scope admin (exit 3)', async () => {
    have({ SIGNING_KEY: now - DAY })
    const { code, stderr } = await host.run(['list'], { SYNC_CARD_TOKEN: await host.issue('read') })
    expect([code, stderr]).toEqual([3, expect.stringContaining('admin')])
  })
})

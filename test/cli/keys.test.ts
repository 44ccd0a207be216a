import { beforeEach, describe, expect, it } from 'vitest'
import { createSigningKey } from '../../cli/signing-key.ts'
import { getSigningKeys } from '../../src/signing/signing-keys.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { KeysHost } from './keys-host.ts'
import { containing, Workspace } from './workspace.ts'

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

/** Makes wrangler change another Worker from now on than the one that has the keys so far. */
const detach = async (): Promise<void> => {
  await host.fetch('/health')
  host.isDeployed = false
}

/** Runs a command, and returns its exit code, what it reports, and the commands of wrangler. */
const outcomeOf = async (args: string, env = {}) => {
  const { code, stderr } = await host.run(args.split(' '), env)
  return [code, stderr, host.calls]
}

const LOCAL = { SYNC_CARD_URL: 'http://127.0.0.1:8787' }

/** Runs each row with a host of its own. */
const forEachHost = async <Row>(rows: readonly Row[], check: (row: Row) => Promise<void>): Promise<void> => {
  for (const row of rows) {
    host = await KeysHost.start(now)
    await check(row)
  }
}

describe('sync-card keys', () => {
  it('stores nothing while wrangler cannot list the secrets (exit 4)', async () => {
    have({ SIGNING_KEY: now - DAY })
    await detach()
    host.store({ SIGNING_KEY_2: createSigningKey() })
    const { SIGNING_KEY_2 } = host.secrets
    const message = 'A request to the Cloudflare API failed. Worker "weather" not found. [code: 10013]'
    for (const command of ['create', 'rotate']) {
      const reason = 'The key was not stored: wrangler could not list the secrets of the Worker'
      expect(await outcomeOf(command, { LIST_FAILURE: JSON.stringify(message) })).toEqual([4, containing(reason), []])
      expect(host.secrets.SIGNING_KEY_2).toBe(SIGNING_KEY_2)
    }
  })

  it('returns the exit code of wrangler', async () => {
    expect(await host.run(['create'], { EXIT_CODE: '7' })).toEqual({
      ...{ code: 7, stdout: '' },
      stderr:
        'sync-card: The key was not stored: wrangler ended with the exit code 7. If you are not logged in, run `npx wrangler login`, then try again.\n',
    })
    have({ SIGNING_KEY: now - 9 * DAY, SIGNING_KEY_2: now - 8 * DAY })
    expect(await host.run(['retire'], { EXIT_CODE: '7' })).toMatchObject({
      ...{ code: 7, stdout: '', stderr: containing('The key was not retired') },
    })
  })

  it('reports that the host does not get the change (exit 1)', async () => {
    const late = 'has not changed its keys within 2 minutes. Is it the Worker that wrangler has changed?'
    have({ SIGNING_KEY: now - 9 * DAY })
    await detach()
    expect(await host.run(['rotate'])).toMatchObject({ code: 1, stdout: '', stderr: containing(late) })
  })

  it('does nothing with a Worker for a host on this machine, which wrangler does not deploy to (exit 2)', async () => {
    expect(await outcomeOf('create', LOCAL)).toEqual([2, containing('is a host on this machine'), []])
    expect(await outcomeOf('rotate', LOCAL)).toEqual([2, containing('Name the deployed one with --host or --url'), []])
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

  it('replaces no key, and names the command that does (exit 2)', async () => {
    for (const name of ['SIGNING_KEY', 'SIGNING_KEY_2']) {
      host.store({ [name]: createSigningKey() })
      const message = expect.stringMatching(`The Worker has a ${name} already.*npx sync-card keys rotate`)
      expect(await outcomeOf('create')).toEqual([2, message, []])
    }
  })

  it('creates the key of a Worker that does not exist yet', async () => {
    const message = 'Worker "calling-card" (env: staging) not found.\n\nIf this is a new Worker, run …'
    const put = ['secret', 'put', 'SIGNING_KEY']
    expect(await outcomeOf('create', { LIST_FAILURE: JSON.stringify(message) })).toEqual([0, containing(''), [put]])
  })

  it('reports that wrangler is missing (exit 2)', async () => {
    const { code, stderr } = await new Workspace().run(['keys', 'create'], { PATH: '/nowhere' })
    expect([code, stderr]).toEqual([2, containing('run this in a clone of the host, after npm ci')])
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

  it('makes no third key beside the current one and another (exit 1)', async () => {
    const next = 'signs from 2026-11-26T12:01:00.000Z on. To give it up: npx sync-card keys retire next'
    const soon = 'must be retired first, which is possible from 2026-11-27 11:02 UTC on (in 24 hours): npx sync-card'
    const rows: [role: string, first: number, second: number, message: string][] = [
      ['next', now - DAY, now + MINUTE, next],
      ['previous', now - 9 * DAY, now - 60 * MINUTE, soon],
      ['previous', now - 9 * DAY, now - 8 * DAY, 'must be retired first: npx sync-card keys retire'],
    ]
    await forEachHost(rows, async ([role, SIGNING_KEY, SIGNING_KEY_2, message]) => {
      have({ SIGNING_KEY, SIGNING_KEY_2 })
      const { [role]: kid = '' } = await host.roles()
      const [code, stderr, calls] = await outcomeOf('rotate')
      expect([code, stderr, calls]).toEqual([1, containing(message), []])
      expect(stderr).toContain(kid)
    })
  })

  it('stores nothing for a host without keys (exit 3), nor in a secret that only the Worker of wrangler has (exit 2)', async () => {
    const none = 'This Worker has no SIGNING_KEY. Create one: npx sync-card keys create'
    expect(await outcomeOf('rotate')).toEqual([3, containing(none), []])
    have({ SIGNING_KEY: now - DAY })
    await detach()
    have({ SIGNING_KEY: now - DAY, SIGNING_KEY_2: now })
    expect(await outcomeOf('rotate')).toEqual([2, containing('such as -- --env staging'), []])
  })
})

describe('sync-card keys retire', () => {
  it('deletes the previous key once no cache needs it', async () => {
    const times = { SIGNING_KEY: now - 9 * DAY, SIGNING_KEY_2: now - 8 * DAY }
    const { SIGNING_KEY: old, SIGNING_KEY_2: current } = have(times)
    const { code, stdout } = await host.run(['retire', '--', '--name', 'cards'])
    expect([code, host.calls]).toEqual([0, [['secret', 'delete', 'SIGNING_KEY', '--name', 'cards']]])
    expect(stdout).toBe(`Retired ${old}: SIGNING_KEY is free for the next key.\n`)
    expect(await host.roles()).toEqual({ current })
  })

  it('deletes the next key, which has signed nothing', async () => {
    const times = { SIGNING_KEY: now - DAY, SIGNING_KEY_2: now + 5 * MINUTE }
    const { SIGNING_KEY: current, SIGNING_KEY_2: next = '' } = have(times)
    expect(await host.run(['retire', next])).toMatchObject({ code: 0 })
    expect(await host.roles()).toEqual({ current })
  })

  it('deletes no key while cards need it, and shows when it can (exit 1)', async () => {
    const expectRefusal = async (when: string) => {
      const [code, stderr, calls] = await outcomeOf('retire')
      expect([code, calls]).toEqual([1, []])
      expect(stderr).toMatch(/^sync-card: The previous key [\w-]{43} can be retired /)
      expect(stderr).toContain(when)
    }
    have({ SIGNING_KEY: now - 9 * DAY, SIGNING_KEY_2: now - 60 * MINUTE })
    await expectRefusal('from 2026-11-27 11:02 UTC on (in 24 hours)')
    have({ SIGNING_KEY: now - 9 * DAY })
    await register()
    const { SIGNING_KEY = '' } = host.secrets
    const SIGNING_KEY_2 = createSigningKey(secondsOf(now - 8 * DAY))
    host.store({ SIGNING_KEY: JSON.parse(SIGNING_KEY), SIGNING_KEY_2 })
    await expectRefusal('once 1 agent more is signed again')
  })

  it('rejects what is not to be retired (exit 2)', async () => {
    have({ SIGNING_KEY: now - DAY })
    const rows = {
      retire: 'There is no previous key to retire. The keys are',
      'retire AgfJ': 'The host has no key "AgfJ". The keys are',
      'retire current': 'is in use. Make the next key first: npx sync-card keys rotate. If it has leaked: npx',
      'retire --now': '--now needs the kid of the key that has leaked',
    }
    for (const [args, message] of Object.entries(rows))
      expect(await outcomeOf(args)).toEqual([2, containing(message), []])
  })
})

describe('sync-card keys retire --now', () => {
  const current = now - 8 * DAY
  const previous = now - 9 * DAY
  const next = now + 5 * MINUTE
  const alone = ['caches may serve cards that it signed, which no other key has signed: verifiers refuse them']
  const both = ['caches may serve cards that it signed, which another key has signed as well']

  type Row = [leaked: string, times: Record<string, number>, call: string, after: string[], remains: string[]]
  it('makes wrangler remove or replace the key, and waits for the cards', async () => {
    const rows: Row[] = [
      ['current', { SIGNING_KEY: current }, 'put SIGNING_KEY', ['current'], alone],
      [
        'current',
        { SIGNING_KEY: previous, SIGNING_KEY_2: current },
        'put SIGNING_KEY_2',
        ['current', 'previous'],
        both,
      ],
      ['current', { SIGNING_KEY: current, SIGNING_KEY_2: next }, 'delete SIGNING_KEY', ['current'], alone],
      ['previous', { SIGNING_KEY: previous, SIGNING_KEY_2: current }, 'delete SIGNING_KEY', ['current'], both],
      ['previous', { SIGNING_KEY: previous, SIGNING_KEY_2: now - MINUTE }, 'delete SIGNING_KEY', ['current'], alone],
      ['next', { SIGNING_KEY: current, SIGNING_KEY_2: next }, 'delete SIGNING_KEY_2', ['current'], []],
    ]
    await forEachHost(rows, async ([leaked, times, call, after, remains]) => {
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
      const fetched = /^until 2026-11-26 12:0[678] UTC {2}verifiers that have fetched the keys before may accept it$/m
      expect(stdout).toMatch(fetched)
      const lines = stdout.match(/^until 2026-11-27 12:0[345] UTC {2}.*$/gm) ?? []
      expect(lines.map(line => line.slice(28))).toEqual(remains)
      await host.advance(MINUTE)
      expect(await host.signersOf(id)).not.toContain(kid)
      expect(await host.signersOf(id)).toContain(roles.current)
    })
  })

  it('ends when it is interrupted while it waits (exit 130)', async () => {
    have({ SIGNING_KEY: current })
    await detach()
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
    const nextKey = createSigningKey(secondsOf(now + 5 * MINUTE))
    host.store({ SIGNING_KEY: createSigningKey(), SIGNING_KEY_2: nextKey })
    const { current } = await host.roles()
    const { code, stdout } = await host.run(['list'])
    const rows = stdout.trimEnd().split('\n')
    expect([code, JSON.parse((await host.run(['list', '--json'])).stdout)]).toEqual([0, await host.keys()])
    expect(rows.map(line => line.split(/ {2,}/))).toEqual([
      ['role', 'kid', 'secret', 'signs since', 'next'],
      ['current', current, 'SIGNING_KEY', 'the beginning', '-'],
      ['next', nextKey.kid, 'SIGNING_KEY_2', 'not yet', 'signs everything from 2026-11-26 12:05 UTC on'],
    ])
  })

  it('names the command for the keys, but no rotation for a host on this machine', async () => {
    const nextOf = async (times: Record<string, number>, env = {}) => {
      have(times)
      return (await host.run(['list'], env)).stdout
    }
    const soon = 'npx sync-card keys retire, from 2026-11-27 12:01 UTC on (in 25 hours)'
    expect(await nextOf({ SIGNING_KEY: now - DAY })).toContain('sync-card keys rotate replaces it')
    expect(await nextOf({ SIGNING_KEY: now - DAY, SIGNING_KEY_2: now - MINUTE })).toContain(soon)
    expect(await nextOf({ SIGNING_KEY: now - 9 * DAY, SIGNING_KEY_2: now - 8 * DAY })).toMatch(/keys retire$/m)
    const local = await nextOf({ SIGNING_KEY: now - DAY }, LOCAL)
    expect(local).toMatch(/^current .* -$/m)
  })

  it('reports how many agents wait for being signed again', async () => {
    have({ SIGNING_KEY: now - DAY })
    await register()
    host.store({ SIGNING_KEY: createSigningKey(secondsOf(now)) })
    expect((await host.run(['list'])).stderr).toBe('Agents that wait for being signed again: 1.\n')
  })
})

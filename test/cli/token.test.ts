import { InvalidArgumentError } from 'commander'
import { beforeEach, describe, expect, it } from 'vitest'
import { parseExpiry } from '../../cli/commands/host/token.ts'
import { problem } from './fake-host.ts'
import { card, containing, useFakeHost } from './workspace.ts'

type Token = Record<'id' | 'note' | 'created', string> &
  Record<'scopes' | 'agents' | 'tiers', string[]> & { expires: string | null }

const { host, env, run: runIn } = useFakeHost()
/** The tokens of the host. */
let tokens: Map<string, Token>
const pageSize = 2
const secret = 'b'.repeat(32)
const idOf = (letter: string) => letter.repeat(12)
const token = (letter: string, more: Partial<Token> = {}): Token => ({
  ...{ id: idOf(letter), note: '', scopes: ['read'], agents: ['*'], tiers: [] },
  ...{ created: '2026-11-01T00:00:00.000Z', expires: null, ...more },
})
const store = (...stored: Token[]) => {
  for (const one of stored) tokens.set(one.id, one)
}

beforeEach(() => {
  tokens = new Map()
  host.faults = [
    ({ method, path, headers, body }, response) => {
      const { pathname, searchParams } = new URL(path, host.url)
      if (!pathname.startsWith('/tokens')) return false
      const answer = (status: number, document?: unknown) => {
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(document && JSON.stringify(document))
        return true
      }
      if (headers.authorization !== `Bearer ${host.token}`) return Boolean(problem(response, 401, 'bad-token', 'No.'))
      if (method === 'POST') {
        const issued = { ...token('a'), ...JSON.parse(body) }
        if (typeof issued.expires === 'number') issued.expires = '2027-01-01T00:00:00.000Z'
        store(issued)
        return answer(201, { ...issued, token: `cc_${issued.id}_${secret}`, published: host.publishes })
      }
      if (method === 'GET') {
        const after = [...tokens.values()].filter(({ id }) => id > (searchParams.get('cursor') ?? ''))
        const shown = after.slice(0, pageSize)
        return answer(200, { tokens: shown, ...(after.length > pageSize && { cursor: shown.at(-1)?.id }) })
      }
      if (tokens.delete(pathname.slice('/tokens/'.length))) return answer(204)
      return Boolean(
        problem(response, 404, 'token-not-found', 'No token with this id exists. GET /tokens lists tokens.'),
      )
    },
  ]
})

const run = (args: string) => runIn({}, `token ${args}`)
const issued = () => `cc_${idOf('a')}_${secret}`

describe('sync-card token create', () => {
  it('prints the token on stdout, and what it allows on stderr, or the whole response with --json', async () => {
    const { code, stdout, stderr } = await run('create --scope read --scope write --agent weather-*')
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${issued()}\n` })
    expect(stderr).toContain(`${idOf('a')}: read, write for weather-*, expires never. Store the token`)
    expect(stderr).not.toContain(secret)
    const inJson = await run('create --scope read --json')
    expect(JSON.parse(inJson.stdout)).toEqual({ ...token('a'), token: issued(), published: true })
  })

  it('warns only about names that the host does not have', async () => {
    const rows: Record<string, string[]> = {
      '--agent wether': ['No agent "wether" exists'],
      '--agent weather --tier partner --tier x': ['None of the agents has a tier "x"'],
      '--agent weather --agent tides --tier partner': [],
      // A glob may match later agents.
      '--agent weather* --agent weather --tier x': [],
      '--agent weather --tier * --tier base': [],
      '--tier x': [],
    }
    host.register('weather', { card: card('weather'), tiers: { partner: {} } })
    host.register('tides', { card: card('tides') })
    for (const [args, warnings] of Object.entries(rows)) {
      const { code, stderr } = await run(`create --scope read ${args}`)
      const found = stderr.match(/(?<=^warning: ).*?(?= on this host| yet)/gm) ?? []
      expect([args, code, found]).toEqual([args, 0, warnings])
    }
  })

  it('looks up at most 20 agents', async () => {
    const agents = Array.from({ length: 25 }, (_, index) => `--agent agent-${index}`)
    await run(`create --scope read ${agents.join(' ')}`)
    expect(host.seen.filter(({ path }) => path.endsWith('/manifest'))).toHaveLength(20)
  })

  it('sends what the options specify', async () => {
    await run('create --scope read --agent a --agent b --tier gold --expires 30d --note CI')
    expect(JSON.parse(host.seen.find(({ method }) => method === 'POST')?.body ?? '')).toEqual({
      ...{ scopes: ['read'], agents: ['a', 'b'], tiers: ['gold'], expires: 2_592_000, note: 'CI' },
    })
  })

  it('reports that the token is not propagated to the edge yet', async () => {
    host.publishes = false
    const { stderr } = await run('create --scope read')
    expect(stderr).toContain('Not propagated to the edge yet; the host will keep retrying.')
  })

  it('is never retried: nobody would know the first token', async () => {
    host.faults = [(_, response) => Boolean(response.writeHead(503).end())]
    const stderr = containing('the host responded with 503')
    expect(await run('create --scope read')).toMatchObject({ code: 4, stderr })
    expect(host.seen).toHaveLength(1)
  })

  it('rejects wrong usage (exit 2)', async () => {
    const rows = {
      create: "required option '--scope <scope>' not specified",
      'create --scope root': 'Allowed choices are read, call, write, admin.',
      'create --scope read --expires soon': 'such as 90m, 12h, 30d or 8w',
      'create --scope read extra': 'too many arguments',
      revoke: "missing required argument 'id",
    }
    for (const [args, message] of Object.entries(rows))
      expect(await run(args), args).toMatchObject({ code: 2, stderr: containing(message) })
    expect(host.seen).toEqual([])
  })

  it('reports why the host did not issue a token', async () => {
    const rows: [status: number, detail: string, code: number][] = [
      [403, 'This token lacks the scope `admin` (SYNC_CARD_TOKEN in the environment).', 3],
      [422, "No token was issued. /agents/0 must be an agent's id.", 3],
    ]
    for (const [status, detail, code] of rows) {
      const sent = detail.replace(/ \(.*\)/, '')
      host.faults = [(_, response) => Boolean(problem(response, status, 'declined', sent))]
      const stderr = `sync-card: ${detail}\n`
      expect(await run('create --scope read --agent ?')).toMatchObject({ code, stdout: '', stderr })
    }
  })
})

describe('sync-card token list', () => {
  it('shows the tokens of all pages in a table, or in JSON', async () => {
    store(
      token('a', { scopes: ['read', 'write'], agents: ['weather-*', 'zoo'], tiers: ['gold'], note: 'CI' }),
      token('b', { expires: '2020-01-01T00:00:00.000Z' }),
      token('c', { expires: '2999-01-01T00:00:00.000Z' }),
    )
    const { code, stdout } = await run('list')
    expect(code).toBe(0)
    expect(JSON.parse((await run('list --json')).stdout)).toEqual({ tokens: [...tokens.values()] })
    expect(stdout.split('\n').map(line => line.split(/ {2,}/))).toEqual([
      ['id', 'scopes', 'agents', 'tiers', 'expires', 'note'],
      [idOf('a'), 'read, write', 'weather-*, zoo', 'gold', 'never', 'CI'],
      [idOf('b'), 'read', '*', '-', 'expired 2020-01-01T00:00:00.000Z'],
      [idOf('c'), 'read', '*', '-', '2999-01-01T00:00:00.000Z'],
      [''],
    ])
  })

  it('reports that there are none', async () => {
    expect((await run('list')).stdout).toContain('No tokens besides the ADMIN_TOKEN')
  })
})

describe('sync-card token revoke', () => {
  it('revokes each token by its id, or by the whole token, of which it sends only the id', async () => {
    store(token('a'), token('b'), token('c'))
    expect(await run(`revoke ${idOf('b')} ${issued()}`)).toMatchObject({
      ...{ code: 0, stdout: `revoked ${idOf('b')}\nrevoked ${idOf('a')}\n` },
      writes: [`DELETE /tokens/${idOf('b')}`, `DELETE /tokens/${idOf('a')}`],
    })
    expect([...tokens.keys()]).toEqual([idOf('c')])
  })

  it('reports an unknown token, and revokes the others (exit 3)', async () => {
    store(token('b'))
    const { code, stdout, stderr } = await run(`revoke ${idOf('a')} ${idOf('b')} --json`)
    expect([code, JSON.parse(stdout)]).toEqual([3, { revoked: [idOf('b')] }])
    expect(stderr).toBe(`sync-card: ${idOf('a')}: No token with this id exists.\n`)
  })

  it('prints with --json what was revoked before the host is lost (exit 4)', async () => {
    store(token('a'), token('b'))
    host.faults.unshift(({ path }, response) => {
      if (!path.endsWith(idOf('b'))) return false
      response.socket?.destroy()
      return true
    })
    const { code, stdout, stderr } = await run(`revoke ${idOf('a')} ${idOf('b')} --json`)
    const failure = containing('the connection failed')
    expect([code, JSON.parse(stdout)]).toEqual([4, { revoked: [idOf('a')], failure }])
    expect(stderr).toMatch(/^sync-card: the connection failed \(.*\)\.$/m)
  })
})

describe('the admin token', () => {
  it('goes unencrypted to another machine only with a warning', async () => {
    // This machine under a name that is not a loopback address.
    env.SYNC_CARD_URL = host.url.replace('127.0.0.1', '0.0.0.0')
    const stderr = `The token goes to ${env.SYNC_CARD_URL} unencrypted: use https.\n`
    expect(await run('list')).toMatchObject({ code: 0, stderr })
  })

  it('is never printed', async () => {
    store(token('a'))
    for (const args of ['list', 'create --scope read', `revoke ${idOf('a')}`, 'revoke nobody']) {
      const { stdout, stderr } = await run(args)
      expect(stdout + stderr).toMatch(/\S/)
      expect(stdout + stderr).not.toContain(host.token)
    }
  })
})

it('reads how long a token is valid', () => {
  const valid = { '45s': 45, '90m': 5400, '12h': 43_200, '30d': 2_592_000, '8w': 4_838_400 }
  for (const [text, seconds] of Object.entries(valid)) expect(parseExpiry(text)).toBe(seconds)
  for (const text of ['2027-01-31', '2027-01-31T12:00:00Z']) expect(parseExpiry(text)).toBe(text)
  for (const text of ['', '30', 'd', '-1d', '1.5h', '30 d', '1y', '30D', '2027', '9999999999d'])
    expect(() => parseExpiry(text), text).toThrow(InvalidArgumentError)
})

import { importJWK, SignJWT } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { AUDIT_HEAD_TYPE, type AuditEntry, NO_ENTRY_HASH, sealEntry } from '../../src/registry/audit/chain.ts'
import { makeSigningKey } from '../support/signing-key.ts'
import { json, problem } from './fake-host.ts'
import { containing, useFakeHost } from './workspace.ts'

const key = makeSigningKey()
const publicKey = { kty: 'EC', crv: 'P-256', x: key.x, y: key.y, kid: 'k', alg: 'ES256', use: 'sig' }
const { host, run: runIn } = useFakeHost()
/** The entries of the host, the oldest first. */
let entries: AuditEntry[]
let keys: object[] | undefined
let signature: string | undefined

/** Appends an entry to a chain. */
const append = (chain: AuditEntry[], more: Partial<AuditEntry> = {}): AuditEntry[] => [
  ...chain,
  sealEntry({
    number: chain.length + 1,
    time: `2027-01-0${chain.length + 1}T00:00:00.000Z`,
    ...{ actor: 'admin', what: 'agent-changed', agent: 'weather', seq: chain.length + 1 },
    previous: chain.at(-1)?.hash ?? NO_ENTRY_HASH,
    ...more,
  }),
]
const sign = async (claims: object, typ = AUDIT_HEAD_TYPE) =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg: 'ES256', typ, kid: 'k' }).sign(await importJWK(key, 'ES256'))

beforeEach(() => {
  entries = append(append(append(append([]), { actor: 'abcdefghijkl' })), { what: 'agent-removed' })
  keys = undefined
  signature = undefined
  host.faults = [
    ({ path, headers }, response) => {
      const { pathname, searchParams } = new URL(path, host.url)
      const answer = (body: unknown) => Boolean(json(response, 200, body))
      if (pathname === '/.well-known/jwks.json')
        return keys ? answer({ keys }) : Boolean(problem(response, 404, 'no-signing-key', 'None.'))
      if (pathname !== '/audit') return false
      if (headers.authorization !== `Bearer ${host.token}`) return Boolean(problem(response, 403, 'forbidden', 'No.'))
      if (searchParams.has('agent', 'A')) return Boolean(problem(response, 400, 'bad-filter', 'agent must be an id.'))
      const before = Number(searchParams.get('cursor') ?? Number.MAX_SAFE_INTEGER)
      const actor = searchParams.get('actor')
      const matching = entries
        .filter(entry => entry.number < before && (actor === null || entry.actor === actor))
        .reverse()
      // Pages of two, whatever the limit, so that a chain spans several.
      const page = matching.slice(0, Math.min(2, Number(searchParams.get('limit'))))
      const { number, time, hash } = entries.at(-1) ?? {}
      const cursor = matching.length > page.length ? { cursor: String(page.at(-1)?.number) } : {}
      const head = number === undefined ? null : { number, time, hash, ...(signature && { signature }) }
      return answer({ entries: page, head, ...cursor })
    },
  ]
})

const run = (args = '') => runIn({}, `audit ${args}`)

describe('sync-card audit', () => {
  it('lists the entries, newest first, one a line', async () => {
    const { code, stdout } = await run()
    expect(code).toBe(0)
    expect(stdout.split('\n')[0]).toBe('4\t2027-01-04T00:00:00.000Z\tadmin\tagent-removed\tweather\t4\t')
    expect(stdout.trim().split('\n')).toHaveLength(4)
  })

  it('shows details without digests', async () => {
    const details = { class: 'breaking', manifest: '"9f86"', scopes: ['read', 'write'], omitted: 2 }
    entries = append([], { what: 'agent-changed', details })
    expect((await run()).stdout.trimEnd().split('\t').at(-1)).toBe('class=breaking scopes=read,write omitted=2')
  })

  it('sends the filters, and reads pages up to the limit', async () => {
    const { stdout } = await run('--actor admin --limit 3 --json')
    expect(JSON.parse(stdout).entries.map(({ number }: AuditEntry) => number)).toEqual([4, 3, 1])
    expect((await run('--actor host')).stderr).toContain('The audit has no such entries.')
  })

  it('rejects wrong usage and filters', async () => {
    const rows: [args: string, code: number, message: string][] = [
      ['--limit 0', 2, 'from 1 to 999999'],
      ['--agent A', 3, 'agent must be an id.'],
      ['verify --seen 3', 2, 'what `npx sync-card audit verify` printed'],
    ]
    for (const [args, code, message] of rows)
      expect(await run(args)).toMatchObject({ code, stderr: containing(message) })
  })
})

describe('sync-card audit verify', () => {
  const head = () => `${entries.at(-1)?.number}:${entries.at(-1)?.hash}`

  it('prints the newest entry of a chain that is whole, or that there is none', async () => {
    const { code, stdout, stderr } = await run('verify')
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${head()}\n` })
    expect(stderr).toContain('not signed, because this host has no key to sign with (npx sync-card keys create)')
    entries = []
    expect(await run('verify')).toMatchObject({ code: 0, stdout: 'The audit has no entries.\n' })
  })

  it('names the first entry that does not fit (exit 1)', async () => {
    const whole = entries
    const rows: [tampered: AuditEntry[], message: string][] = [
      [
        whole.map(entry => (entry.number > 1 ? { ...entry, actor: 'x' } : entry)),
        'Entry 2 does not fit: its hash is not that of its content.',
      ],
      [whole.slice(1), 'Entry 2 does not fit: its number does not follow 0.'],
    ]
    for (const [tampered, message] of rows) {
      entries = tampered
      expect(await run('verify')).toMatchObject({ code: 1, stdout: '', stderr: `sync-card: ${message}\n` })
    }
  })

  it('finds entries that were replaced or dropped since the last verification', async () => {
    const seen = head()
    expect((await run(`verify --seen ${seen}`)).code).toBe(0)
    entries = append(entries.slice(0, 3), { what: 'agent-changed' })
    expect((await run(`verify --seen ${seen}`)).stderr).toContain('Entry 4 does not fit: its hash is not the one seen')
    entries = entries.slice(0, 3)
    expect((await run(`verify --seen ${seen}`)).stderr).toContain('Entry 4 does not fit: it was seen before, and is')
  })

  it('verifies the signature with the keys of the host, the previous one included', async () => {
    const { x, y } = makeSigningKey()
    const { number, hash } = entries.at(-1) ?? {}
    signature = await sign({ number, hash })
    keys = [{ ...publicKey, x, y, kid: 'next' }, publicKey]
    expect(await run('verify')).toMatchObject({ code: 0, stderr: containing('signed by this host') })
    const { stdout } = await run('verify --json')
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, entries: 4, isSigned: true })
    keys = keys.slice(0, 1)
    expect(await run('verify')).toMatchObject({ code: 1, stderr: containing('is not valid') })
  })

  it('rejects a signature that is missing, or of another entry or purpose', async () => {
    const claims = { number: 4, hash: entries[3]?.hash }
    const rows: [signature: string | undefined, message: string][] = [
      [undefined, 'is not signed, although the host publishes keys'],
      [await sign({ number: 4, hash: 'f'.repeat(64) }), 'is not valid'],
      [await sign(claims, 'JWT'), 'is not valid'],
    ]
    keys = [publicKey]
    for (const [given, message] of rows) {
      signature = given
      expect(await run('verify')).toMatchObject({ code: 1, stderr: containing(message) })
      expect(JSON.parse((await run('verify --json')).stdout)).toMatchObject({ valid: false })
    }
  })
})

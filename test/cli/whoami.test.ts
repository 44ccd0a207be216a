import { beforeEach, describe, expect, it } from 'vitest'
import { VERSION } from '../../src/version.ts'
import { useFakeHost, Workspace } from './workspace.ts'

const { host } = useFakeHost()
beforeEach(() => {
  host.ownToken = {
    ...{ id: 'kn36bnav5bke', scopes: ['read', 'write'], agents: ['weather-*'], tiers: [] },
    ...{ expires: '2999-01-01T00:00:00.000Z', note: 'CI\u001b[31m' },
  }
})

const files = () => ({
  'sync-card.yaml': `hosts: { prod: { url: ${host.url}, set: team } }`,
  '.env.prod': `SYNC_CARD_URL=${host.url}\nSYNC_CARD_TOKEN=${host.token}`,
})

const linesOf = (text: string) => text.split('\n').map(line => line.split(/ {2,}/))

describe('sync-card whoami', () => {
  it('shows the host, the token, what it allows, and where both were found', async () => {
    const { code, stdout, stderr } = await new Workspace(files()).run(['whoami'])
    expect([code, stderr]).toEqual([0, ''])
    expect(linesOf(stdout)).toEqual([
      ['host', `${host.url} (profile prod in sync-card.yaml)`],
      ['version', VERSION],
      ['set', 'team'],
      ['token', 'kn36bnav5bke (SYNC_CARD_TOKEN in .env.prod)'],
      ['scopes', 'read, write'],
      ['agents', 'weather-*'],
      ['tiers', '-'],
      ['expires', '2999-01-01T00:00:00.000Z'],
      ['note', 'CI\\u001b[31m'],
      [''],
    ])
    expect(stdout).not.toContain(host.token)
  })

  it('shows the admin token, and an expired one', async () => {
    host.ownToken = { id: 'admin', scopes: ['admin'], agents: ['*'], tiers: ['*'], expires: null }
    const whoami = async () => linesOf((await new Workspace(files()).run(['whoami'])).stdout)
    expect(await whoami()).toContainEqual(['expires', 'never'])
    host.ownToken.expires = '2020-01-01T00:00:00.000Z'
    expect(await whoami()).toContainEqual(['expires', 'expired 2020-01-01T00:00:00.000Z'])
  })

  it('shows another version of the host and which secrets it lacks, those of manifests included, and sends no token before it knows the host', async () => {
    host.health.missing = ['SIGNING_KEY']
    host.health.version = '0.1.7'
    host.missingOfManifests = ['WEATHER_KEY']
    const { stdout } = await new Workspace(files()).run(['whoami'])
    expect(linesOf(stdout)).toContainEqual(['version', `0.1.7; this is sync-card ${VERSION}`])
    expect(linesOf(stdout)).toContainEqual(['missing', 'SIGNING_KEY, WEATHER_KEY'])
    expect(host.contacts.map(({ headers }) => headers.authorization)).toEqual([undefined, `Bearer ${host.token}`])
  })

  it('prints one JSON object with --json', async () => {
    const { stdout } = await new Workspace(files()).run(['whoami', '--json'])
    expect(JSON.parse(stdout)).toEqual({
      ...{ url: host.url, urlFrom: 'profile prod in sync-card.yaml', name: 'prod', set: 'team' },
      ...{ version: VERSION, clientVersion: VERSION, registry: 'reachable', missing: [] },
      token: { ...host.ownToken, note: 'CI\u001b[31m', from: 'SYNC_CARD_TOKEN in .env.prod' },
    })
  })

  it('reports a token that the host rejects (exit 4)', async () => {
    expect(await new Workspace(files()).run(['whoami', '--host', 'prod', '--token', 'wrong'])).toEqual({
      code: 4,
      stdout: '',
      stderr: 'sync-card: the host rejects the token (401), which is wrong, expired or revoked: --token.\n',
    })
  })
})

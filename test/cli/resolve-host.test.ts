import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createContext, type Environment } from '../../cli/context.ts'
import { UsageError } from '../../cli/exit-codes.ts'
import { claimFile, findHost, type HostNameFlags, resolveHost } from '../../cli/hosts/index.ts'
import { Workspace } from './workspace.ts'

const A = 'https://a.example.com'
const B = 'https://b.example.com'
const LOCAL = 'http://127.0.0.1:8787'

/** What decides about the host: flags, the environment, and files. */
type Given = { flags?: HostNameFlags; env?: Environment; files?: Record<string, string> }

const contextOf = ({ env = {}, files = {} }: Given) => createContext(new Workspace(files).io(env).io, 'sync-card')

const resolve = (given: Given) => resolveHost(given.flags ?? {}, contextOf(given))

/** Returns the message of the usage error. */
const messageOf = (given: Given): string => {
  try {
    return `resolved: ${resolve(given).url}`
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
}

/** Returns the text of the file that npm start writes for a host which ends with this process. */
const startedRecord = (token: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sync-card-'))
  const file = join(folder, 'started.json')
  claimFile(file, { pid: process.pid, url: LOCAL, token })
  const text = readFileSync(file, 'utf8')
  rmSync(folder, { recursive: true })
  return text
}

/** The file of a host that npm start runs. */
const started = { '.wrangler/start-8787.json': startedRecord('of-start') }

const twoHosts = `hosts: { prod: { url: ${A} }, staging: { url: ${B}, set: team } }`

describe('resolveHost chooses the host', () => {
  it.each(['http', '80@evil.example'])('but not on the port %s', port => {
    for (const flags of [{}, { host: 'local' }])
      expect(messageOf({ flags, env: { PORT: port } })).toMatch(/^PORT: "http:.*" is not the URL of a host/)
  })

  it.each<[string, Given, string, string]>([
    ['that npm start runs, by default', {}, LOCAL, 'the default, where `npm start` listens'],
    ['on PORT', { env: { PORT: '9000' } }, 'http://127.0.0.1:9000', 'the default, where `npm start` listens'],
    ['of .env', { files: { '.env': `SYNC_CARD_URL=${A}\nADMIN_TOKEN=x` } }, A, 'SYNC_CARD_URL in .env'],
    [
      'that is the default of sync-card.yaml, before .env',
      { files: { 'sync-card.yaml': `default: staging\n${twoHosts}`, '.env': `SYNC_CARD_URL=${A}` } },
      B,
      'profile staging in sync-card.yaml',
    ],
    [
      'that is the only one of sync-card.yaml',
      { files: { 'sync-card.yaml': `hosts: { prod: { url: ${A}/ } }` } },
      A,
      'profile prod in sync-card.yaml',
    ],
    [
      'of the environment, before sync-card.yaml',
      { files: { 'sync-card.yaml': `default: prod\n${twoHosts}` }, env: { SYNC_CARD_URL: B, ADMIN_TOKEN: 'x' } },
      B,
      'SYNC_CARD_URL in the environment',
    ],
    [
      'of --url, before the environment',
      { flags: { url: `${A}/`, token: 'x' }, env: { SYNC_CARD_URL: B } },
      A,
      '--url',
    ],
    [
      'of --host, before the environment',
      { flags: { host: 'prod', token: 'x' }, env: { SYNC_CARD_URL: B }, files: { 'sync-card.yaml': twoHosts } },
      A,
      'profile prod in sync-card.yaml',
    ],
    [
      'of .env.NAME, which makes a profile alone',
      { flags: { host: 'beta' }, files: { '.env.beta': `SYNC_CARD_URL=${B}\nADMIN_TOKEN=x` } },
      B,
      'SYNC_CARD_URL in .env.beta',
    ],
    [
      'of .env.NAME as the default of sync-card.yaml',
      { files: { 'sync-card.yaml': 'default: beta', '.env.beta': `SYNC_CARD_URL=${B}\nADMIN_TOKEN=x` } },
      B,
      'SYNC_CARD_URL in .env.beta',
    ],
    [
      'that npm start runs as "local"',
      { flags: { host: 'local' }, files: { 'sync-card.yaml': twoHosts, '.env': `SYNC_CARD_URL=${A}` } },
      LOCAL,
      'the host that `npm start` runs',
    ],
  ])('%s', (_, given, url, urlFrom) => {
    expect(findHost(given.flags ?? {}, contextOf(given))).toMatchObject({ url, urlFrom })
  })

  it.each<[string, Given]>([
    ['its name', { flags: { host: 'staging' } }],
    ['its URL in a flag', { flags: { url: `${B}/` } }],
    ['its URL in the environment', { env: { SYNC_CARD_URL: B } }],
  ])('with the name and the set of the profile, found by %s', (_, given) => {
    const files = { 'sync-card.yaml': twoHosts }
    expect(findHost(given.flags ?? {}, contextOf({ ...given, files }))).toMatchObject({
      ...{ name: 'staging', set: 'team', url: B },
    })
  })

  it.each<[string, Given, string]>([
    ['an empty token, as of an unset variable', { flags: { url: A, token: '' } }, '--token is empty: '],
    ['two flags for one thing', { flags: { host: 'a', url: A } }, '--host and --url both name the host'],
    [
      'an unknown name',
      { flags: { host: 'prd' }, files: { 'sync-card.yaml': twoHosts } },
      'There is no host "prd". Did you mean "prod"? The hosts are prod, staging, local',
    ],
    ['a name that leads to another folder', { flags: { host: '../x' } }, 'There is no host "../x"'],
    [
      'a file that only shows what .env looks like',
      { flags: { host: 'example' }, files: { '.env.example': `SYNC_CARD_URL=${A}` } },
      'There is no host "example"',
    ],
    [
      'several hosts without a default',
      { files: { 'sync-card.yaml': twoHosts } },
      'choose one of prod, staging with --host, or write default: prod',
    ],
    [
      'a URL with a password',
      { flags: { url: 'https://a:hidden@a.example.com', token: 'x' } },
      '--url: "https://…@a.example.com" is not the URL',
    ],
    [
      'text that is no URL',
      { env: { SYNC_CARD_URL: 'cards' } },
      'SYNC_CARD_URL in the environment: "cards" is not the URL of a host',
    ],
    [
      'another scheme in .env',
      { files: { '.env': 'SYNC_CARD_URL=ftp://a.example.com' } },
      'SYNC_CARD_URL in .env: "ftp://a.example.com" is not',
    ],
    [
      'no URL in .env.NAME',
      { flags: { host: 'x' }, files: { '.env.x': 'SYNC_CARD_URL=x.example.com' } },
      'SYNC_CARD_URL in .env.x: "x.example.com" is not',
    ],
  ])('and rejects %s', (_, given, message) => {
    expect(messageOf(given)).toContain(message)
    expect(messageOf(given)).not.toContain('hidden')
  })
})

describe('resolveHost sends a token only to the URL that it belongs to', () => {
  const envFile = `SYNC_CARD_URL=${A}\nSYNC_CARD_TOKEN=of-file\n`
  const profile = `hosts: { prod: { url: ${A} } }`

  it.each<[string, Given, string, string]>([
    [
      '--token, to any URL',
      { flags: { url: B, token: 'flag' }, env: { SYNC_CARD_URL: A, ADMIN_TOKEN: 'y' } },
      'flag',
      '--token',
    ],
    [
      'SYNC_CARD_TOKEN before ADMIN_TOKEN',
      { env: { SYNC_CARD_URL: A, SYNC_CARD_TOKEN: 'x', ADMIN_TOKEN: 'y' } },
      'x',
      'SYNC_CARD_TOKEN in the environment',
    ],
    ['ADMIN_TOKEN', { env: { SYNC_CARD_URL: A, ADMIN_TOKEN: 'y' } }, 'y', 'ADMIN_TOKEN in the environment'],
    [
      'of the environment without a URL, to --url',
      { flags: { url: B }, env: { ADMIN_TOKEN: 'y' } },
      'y',
      'ADMIN_TOKEN in the environment',
    ],
    [
      'of the environment, to the same URL as a flag',
      { flags: { url: `${A}/` }, env: { SYNC_CARD_URL: A, ADMIN_TOKEN: 'y' } },
      'y',
      'ADMIN_TOKEN in the environment',
    ],
    ['of .env, to its own URL', { files: { '.env': envFile } }, 'of-file', 'SYNC_CARD_TOKEN in .env'],
    [
      'of .env, to the same URL as a flag',
      { flags: { url: A }, files: { '.env': envFile } },
      'of-file',
      'SYNC_CARD_TOKEN in .env',
    ],
    [
      'of .env, to the same URL in a profile',
      { files: { '.env': envFile, 'sync-card.yaml': profile } },
      'of-file',
      'SYNC_CARD_TOKEN in .env',
    ],
    [
      'of the environment before .env',
      { flags: { url: A }, env: { SYNC_CARD_TOKEN: 'x' }, files: { '.env': envFile } },
      'x',
      'SYNC_CARD_TOKEN in the environment',
    ],
    [
      'of .env if that of the environment belongs to another URL',
      { flags: { url: A }, env: { SYNC_CARD_URL: B, ADMIN_TOKEN: 'y' }, files: { '.env': envFile } },
      'of-file',
      'SYNC_CARD_TOKEN in .env',
    ],
    ['of .env without a URL, to this machine', { files: { '.env': 'ADMIN_TOKEN=z' } }, 'z', 'ADMIN_TOKEN in .env'],
    [
      'of .env.NAME before .env',
      { flags: { host: 'prod' }, files: { '.env': envFile, '.env.prod': `SYNC_CARD_URL=${A}\nADMIN_TOKEN=p` } },
      'p',
      'ADMIN_TOKEN in .env.prod',
    ],
    [
      'of the variable that is named like the host',
      {
        flags: { host: 'my-prod' },
        env: { SYNC_CARD_URL: B, SYNC_CARD_TOKEN_MY_PROD: 'c', SYNC_CARD_TOKEN: 'x' },
        files: { 'sync-card.yaml': profile.replace('prod', 'my-prod') },
      },
      'c',
      'SYNC_CARD_TOKEN_MY_PROD in the environment',
    ],
    [
      'of that variable to the URL of the host',
      { flags: { url: A }, env: { SYNC_CARD_TOKEN_PROD: 'c' }, files: { 'sync-card.yaml': profile } },
      'c',
      'SYNC_CARD_TOKEN_PROD in the environment',
    ],
    [
      'by default that of the host that npm start runs in this clone',
      { files: started },
      'of-start',
      '.wrangler/start-8787.json of npm start',
    ],
    [
      'that of npm start rather than one of another host',
      {
        flags: { url: 'http://localhost:1' },
        env: { SYNC_CARD_URL: A, ADMIN_TOKEN: 'y' },
        files: { '.env': envFile, '.wrangler/start-1.json': startedRecord('s') },
      },
      's',
      '.wrangler/start-1.json of npm start',
    ],
    [
      'of .env.NAME before that of npm start',
      { flags: { host: 'local' }, files: { '.env.local': `SYNC_CARD_URL=${LOCAL}\nADMIN_TOKEN=z`, ...started } },
      'z',
      'ADMIN_TOKEN in .env.local',
    ],
  ])('%s', (_, given, token, tokenFrom) => {
    expect(resolve(given)).toMatchObject({ token, tokenFrom })
  })

  it.each([
    ['has ended, whose process id is used again', (text: string) => text.replace(/"began":"[^"]*"/, '"began":"1"')],
    ['has ended', (text: string) => text.replace(/"pid":\d+/, '"pid":4194305')],
    ['is not known, in a file that is not complete', (text: string) => text.slice(0, 20)],
  ])('is not that of an npm start that %s: another program may have its port', (_, change) => {
    const files = { '.wrangler/start-8787.json': change(startedRecord('of-start')) }
    expect(messageOf({ files })).toMatch(/^There is no token for http:\/\/127\.0\.0\.1:8787\./)
  })

  it.each<[string, Given, string[]]>([
    [
      'one of .env for another host',
      { flags: { url: B }, files: { '.env': envFile } },
      [
        `The SYNC_CARD_TOKEN in .env is for ${A}, the SYNC_CARD_URL there, and is not sent to ${B}.`,
        `SYNC_CARD_URL=${B}`,
        '.env.NAME, and name the host with --host NAME',
      ],
    ],
    [
      'one of .env for the same host without encryption',
      { flags: { url: A.replace('https', 'http') }, files: { '.env': envFile } },
      [`is for ${A}`, 'is not sent to http://a.example.com'],
    ],
    [
      'one of .env for a part of the host',
      { flags: { url: `${A}/team` }, files: { '.env': envFile } },
      [`is not sent to ${A}/team`],
    ],
    [
      'one of .env for another port',
      { flags: { url: `${A}:8443` }, files: { '.env': envFile } },
      [`is not sent to ${A}:8443`],
    ],
    [
      'one of .env without a URL',
      { flags: { url: B }, files: { '.env': 'ADMIN_TOKEN=z' } },
      [
        `.env does not say which host its ADMIN_TOKEN is for, so it is not sent to ${B}.`,
        `add this line to .env: SYNC_CARD_URL=${B}`,
      ],
    ],
    [
      'one of .env without a URL, for a profile',
      { files: { '.env.prod': 'SYNC_CARD_TOKEN=z', 'sync-card.yaml': profile } },
      [`add this line to .env.prod: SYNC_CARD_URL=${A}`],
    ],
    [
      'one of .env.NAME after sync-card.yaml has changed',
      { files: { '.env.prod': `SYNC_CARD_URL=${B}\nSYNC_CARD_TOKEN=z`, 'sync-card.yaml': profile } },
      [`The SYNC_CARD_TOKEN in .env.prod is for ${B}`, `not sent to ${A}`],
    ],
    [
      'one of the environment for another host',
      { flags: { url: B }, env: { SYNC_CARD_URL: A, ADMIN_TOKEN: 'y' } },
      [`The ADMIN_TOKEN in the environment is for ${A}, the SYNC_CARD_URL there, and is not sent to ${B}.`],
    ],
    [
      'one of the environment for another host than the profile',
      { flags: { host: 'prod' }, env: { SYNC_CARD_URL: B, ADMIN_TOKEN: 'y' }, files: { 'sync-card.yaml': profile } },
      [`The ADMIN_TOKEN in the environment is for ${B}`, '.env.prod'],
    ],
    [
      'no token at all',
      { flags: { url: B } },
      [
        `There is no token for ${B}.`,
        `Use --url ${B} with --token`,
        `SYNC_CARD_URL=${B} and SYNC_CARD_TOKEN in the environment`,
        'write both into .env.',
      ],
    ],
    ...[
      'http://127.0.0.1:8788',
      'http://127.0.0.2:8787',
      'http://[::1]:8787',
      'https://127.0.0.1:8787',
      'http://a.example:8787',
    ].map((url): [string, Given, string[]] => [
      `that of npm start for another host: ${url}`,
      { flags: { url }, files: started },
      [`There is no token for ${url}.`],
    ]),
    [
      'a host on this machine that does not run',
      {},
      [`There is no token for ${LOCAL}. npm start makes one, for commands in its clone while it runs.`],
    ],
    [
      'a token with a line break',
      { flags: { token: 'hidden\n' } },
      ['The token has characters that no token can have (--token)'],
    ],
  ])('and rejects %s', (_, given, parts) => {
    const message = messageOf(given)
    for (const part of parts) expect(message).toContain(part)
    expect(message).not.toMatch(/hidden|of-file/)
  })
})

/** Where a token may be, each row of the table below. */
const tokens = {
  '--token': { flags: { token: 'T' } },
  'the environment': { env: { ADMIN_TOKEN: 'T' } },
  'the environment, with its URL': { env: { SYNC_CARD_TOKEN: 'T', SYNC_CARD_URL: A } },
  'the environment, named like the host': { env: { SYNC_CARD_TOKEN_PROD: 'T' } },
  '.env': { files: { '.env': 'SYNC_CARD_TOKEN=T' } },
  '.env, with its URL': { files: { '.env': `SYNC_CARD_TOKEN=T\nSYNC_CARD_URL=${A}` } },
  '.env.prod, with its URL': { files: { '.env.prod': `ADMIN_TOKEN=T\nSYNC_CARD_URL=${A}` } },
} satisfies Record<string, Given>

/** Where the host may be named, each column. */
const hosts = {
  '--url': { flags: { url: A } },
  '--host': { flags: { host: 'prod' }, files: { 'sync-card.yaml': `hosts: { prod: { url: ${A} } }` } },
  'sync-card.yaml': { files: { 'sync-card.yaml': `hosts: { prod: { url: ${A} } }` } },
  '.env': { files: { '.env': `SYNC_CARD_URL=${A}` } },
  'another host of sync-card.yaml': { files: { 'sync-card.yaml': `hosts: { prod: { url: ${B} } }` } },
  'another port of this machine in sync-card.yaml': {
    files: { 'sync-card.yaml': 'hosts: { prod: { url: "http://127.0.0.1:9" } }' },
  },
  nothing: {},
} satisfies Record<string, Given>

/** The URL at which a token arrives. */
const table: Record<keyof typeof tokens, (string | undefined)[]> = {
  '--token': [A, A, undefined, undefined, undefined, undefined, LOCAL],
  'the environment': [A, undefined, undefined, undefined, undefined, undefined, LOCAL],
  'the environment, with its URL': [A, A, A, A, A, A, A],
  'the environment, named like the host': [undefined, A, undefined, undefined, undefined, undefined, undefined],
  '.env': [undefined, undefined, undefined, A, undefined, undefined, LOCAL],
  '.env, with its URL': [A, A, A, A, undefined, undefined, A],
  '.env.prod, with its URL': [undefined, A, A, undefined, undefined, undefined, undefined],
}

describe('a token of the user in a repository of somebody else', () => {
  it('reaches only a host that its own source or the user names', () => {
    for (const [tokenFrom, token] of Object.entries<Given>(tokens)) {
      const arrived = Object.values<Given>(hosts).map(named => {
        const files: Record<string, string> = { ...named.files }
        for (const [name, text] of Object.entries(token.files ?? {})) files[name] = `${files[name] ?? ''}\n${text}`
        const context = contextOf({ env: { ...named.env, ...token.env }, files })
        try {
          const found = findHost({ ...named.flags, ...token.flags }, context)
          return found.token === 'T' ? found.url : undefined
        } catch (error) {
          if (error instanceof UsageError) return undefined
          throw error
        }
      })
      expect(arrived, tokenFrom).toEqual(table[tokenFrom as keyof typeof tokens])
    }
  })

  it.each<[string, Given, string]>([
    [
      'a generic one, by the default of sync-card.yaml',
      { env: { ADMIN_TOKEN: 'hidden' }, files: { 'sync-card.yaml': `hosts: { prod: { url: ${A} } }` } },
      `The ADMIN_TOKEN in the environment is not sent to ${A}: only profile prod in sync-card.yaml names that host, and its author would get the token. If it is for that host, add --url ${A}, or set SYNC_CARD_URL=${A} beside it.`,
    ],
    [
      'a generic one, by a name that the user types',
      {
        ...{ flags: { host: 'prod' }, env: { SYNC_CARD_TOKEN: 'hidden' } },
        files: { 'sync-card.yaml': `hosts: { prod: { url: ${A} } }` },
      },
      `add --url ${A}, or set SYNC_CARD_URL=${A} beside it, or name the variable SYNC_CARD_TOKEN_PROD.`,
    ],
    [
      'one that is named like the default host',
      { env: { SYNC_CARD_TOKEN_PROD: 'hidden' }, files: { 'sync-card.yaml': `hosts: { prod: { url: ${A} } }` } },
      'would get the token. If it is for that host, add --host prod.',
    ],
    [
      'one of a flag, by a .env',
      { flags: { token: 'hidden' }, files: { '.env': `SYNC_CARD_URL=${A}` } },
      `--token is not sent to ${A}: only SYNC_CARD_URL in .env names that host, and its author would get the token. If it is for that host, add --url ${A}.`,
    ],
  ])('is withheld with the reason and what to type: %s', (_, given, message) => {
    expect(messageOf(given)).toContain(message)
    expect(messageOf(given)).not.toContain('hidden')
  })
})

describe('findHost', () => {
  it('resolves a host without a token, and gives the reason', () => {
    const given = { flags: { url: B }, files: { '.env': `SYNC_CARD_URL=${A}\nADMIN_TOKEN=x` } }
    expect(findHost(given.flags, contextOf(given))).toEqual({
      url: B,
      token: '',
      urlFrom: '--url',
      tokenFrom: expect.stringContaining(`is for ${A}`),
    })
  })
})

describe('sync-card.yaml', () => {
  it.each<[string, string, string[]]>([
    [
      'text that is no YAML',
      'hosts: {',
      ['sync-card.yaml:1:8 (document) This is not YAML. The { here has no closing }.'],
    ],
    ['a list', '- prod', ['sync-card.yaml:1:1 (document) must be an object']],
    [
      'an unknown field',
      'host: x\nhosts: {}',
      ['sync-card.yaml:1:1 /host is not a known field here. Did you mean "hosts"? Known fields: default, hosts'],
    ],
    [
      'an unknown field of a host',
      `hosts:\n  prod:\n    url: ${A}\n    uri: x`,
      ['sync-card.yaml:4:5 /hosts/prod/uri is not a known field here. Did you mean "url"? Known fields: url, set'],
    ],
    [
      'a token',
      `hosts:\n  prod:\n    url: ${A}\n    token: hidden`,
      ['sync-card.yaml:4:5 /hosts/prod/token does not belong in this file: write it into .env or .env.NAME'],
    ],
    [
      'the name of the variable with a token, which a clone of another person could choose',
      `hosts: { prod: { url: ${A}, tokenFrom: env:GITHUB_TOKEN } }`,
      ['/hosts/prod/tokenFrom is not a known field here. Known fields: url, set'],
    ],
    ['no URL', 'hosts:\n  prod: {}', ['/hosts/prod/url is missing']],
    [
      'a URL of another scheme',
      'hosts:\n  prod:\n    url: cards.example.com',
      ['sync-card.yaml:3:5 /hosts/prod/url must be the URL of a host, such as https://cards.example.com'],
    ],
    [
      'a set that is no name',
      `hosts: { prod: { url: ${A}, set: My Cards } }`,
      ['/hosts/prod/set must be lower-case letters, digits and hyphens'],
    ],
    [
      'a name that leads to another folder',
      `hosts: { ../prod: { url: ${A} } }`,
      ['/hosts/..~1prod is not the name of a host'],
    ],
    [
      'a default that is no host',
      `default: prd\nhosts: { prod: { url: ${A} } }`,
      ['sync-card.yaml:1:1 /default names no host: "prd" is neither under hosts, nor is there a .env.prd'],
    ],
    [
      'two mistakes',
      'hosts:\n  prod: { url: 1 }\n  beta: { url: x }',
      ['/hosts/prod/url must be a string', '/hosts/beta/url must be the URL'],
    ],
    ['a key twice', `default: prod\ndefault: beta\nhosts: { prod: { url: ${A} } }`, ['sync-card.yaml:2:1']],
  ])('is rejected with its place: %s', (_, content, messages) => {
    const message = messageOf({ files: { 'sync-card.yaml': content } })
    for (const part of messages) expect(message).toContain(part)
    expect(message).not.toContain('hidden')
  })

  it('may be empty', () => {
    expect(findHost({}, contextOf({ files: { 'sync-card.yaml': '# later\n' } }))).toMatchObject({ url: LOCAL })
  })
})

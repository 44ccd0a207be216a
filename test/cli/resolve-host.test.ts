import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createContext, type Environment } from '../../cli/context.ts'
import { UsageError } from '../../cli/errors.ts'
import { claimFile, findHost, type HostNameFlags, resolveHost } from '../../cli/hosts/index.ts'
import { containing, Workspace } from './workspace.ts'

const A = 'https://a.example.com'
const B = 'https://b.example.com'
const LOCAL = 'http://127.0.0.1:8787'

/** What decides about the host: flags, the environment, and files. */
type Given = { flags?: HostNameFlags; env?: Environment; files?: Record<string, string> }

const contextOf = ({ env = {}, files = {} }: Given) => createContext(new Workspace(files).io(env).io, 'sync-card')

const find = (given: Given) => findHost(given.flags ?? {}, contextOf(given))

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

/** Expects messages that have these parts, and no secret. */
const expectMessages = (rows: readonly (readonly [given: Given, ...parts: string[]])[]): void => {
  for (const [given, ...parts] of rows) {
    const message = messageOf(given)
    for (const part of parts) expect(message).toContain(part)
    expect(message).not.toMatch(/hidden|of-file/)
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
const profile = { 'sync-card.yaml': `hosts: { prod: { url: ${A} } }` }

describe('resolveHost chooses the host', () => {
  it('that is named first: by a flag, the environment, sync-card.yaml, .env, or npm start', () => {
    const names = (text: string) => ({ 'sync-card.yaml': text })
    const beta = { '.env.beta': `SYNC_CARD_URL=${B}\nADMIN_TOKEN=x` }
    const byDefault = 'the default, where `npm start` listens'
    const [inShell, ofA] = [{ SYNC_CARD_URL: B }, { '.env': `SYNC_CARD_URL=${A}` }]
    const rows: [given: Given, url: string, urlFrom: string][] = [
      [{}, LOCAL, byDefault],
      [{ env: { PORT: '9000' } }, 'http://127.0.0.1:9000', byDefault],
      [{ files: { '.env': `SYNC_CARD_URL=${A}\nADMIN_TOKEN=x` } }, A, 'SYNC_CARD_URL in .env'],
      [{ files: { ...names(`default: staging\n${twoHosts}`), ...ofA } }, B, 'profile staging in sync-card.yaml'],
      [{ files: names(`hosts: { prod: { url: ${A}/ } }`) }, A, 'profile prod in sync-card.yaml'],
      [{ files: names(`default: prod\n${twoHosts}`), env: inShell }, B, 'SYNC_CARD_URL in the environment'],
      [{ flags: { url: `${A}/`, token: 'x' }, env: inShell }, A, '--url'],
      [{ flags: { host: 'beta' }, files: beta }, B, 'SYNC_CARD_URL in .env.beta'],
      [{ files: { ...names('default: beta'), ...beta } }, B, 'SYNC_CARD_URL in .env.beta'],
      [{ flags: { host: 'local' }, files: { ...names(twoHosts), ...ofA } }, LOCAL, 'the host that `npm start` runs'],
    ]
    for (const [given, url, urlFrom] of rows) expect(find(given), JSON.stringify(given)).toMatchObject({ url, urlFrom })
  })

  it('with the name and the set of the profile, however it is found', () => {
    const files = { 'sync-card.yaml': twoHosts }
    const ways: Given[] = [{ flags: { host: 'staging' } }, { flags: { url: `${B}/` } }, { env: { SYNC_CARD_URL: B } }]
    for (const given of ways) expect(find({ ...given, files })).toMatchObject({ name: 'staging', set: 'team', url: B })
  })

  it('but rejects a mistake', () => {
    for (const port of ['http', '80@evil.example'])
      for (const flags of [{}, { host: 'local' }])
        expect(messageOf({ flags, env: { PORT: port } })).toMatch(/^PORT: "http:.*" is not the URL of a host/)
    const files = { 'sync-card.yaml': twoHosts }
    expectMessages([
      // As of an unset variable.
      [{ flags: { url: A, token: '' } }, '--token is empty: '],
      [{ flags: { host: 'a', url: A } }, '--host and --url both name the host'],
      [{ flags: { host: 'prd' }, files }, 'There is no host "prd". Did you mean "prod"? The hosts are prod, staging'],
      // It only shows what .env looks like.
      [{ flags: { host: 'example' }, files: { '.env.example': `SYNC_CARD_URL=${A}` } }, 'There is no host "example"'],
      [{ files }, 'choose one of prod, staging with --host, or write default: prod'],
      [{ flags: { url: 'https://a:hidden@a.example.com', token: 'x' } }, '--url: "https://…@a.example.com" is not'],
      [{ env: { SYNC_CARD_URL: 'cards' } }, 'SYNC_CARD_URL in the environment: "cards" is not the URL of a host'],
      [{ files: { '.env': 'SYNC_CARD_URL=ftp://a.test' } }, 'SYNC_CARD_URL in .env: "ftp://a.test" is not'],
    ])
  })
})

describe('resolveHost sends a token only to the URL that it belongs to', () => {
  const envFile = `SYNC_CARD_URL=${A}\nSYNC_CARD_TOKEN=of-file\n`
  const mine = { '.env': envFile }

  it('and takes the first that does', () => {
    const [inAdmin, inEnv] = ['ADMIN_TOKEN in the environment', 'SYNC_CARD_TOKEN in .env']
    const inShell = { SYNC_CARD_URL: A, ADMIN_TOKEN: 'y' }
    const myProd = { 'sync-card.yaml': profile['sync-card.yaml'].replace('prod', 'my-prod') }
    const shellOfMyProd = { SYNC_CARD_URL: B, SYNC_CARD_TOKEN_MY_PROD: 'c', SYNC_CARD_TOKEN: 'x' }
    const ofProd = { '.env.prod': `SYNC_CARD_URL=${A}\nADMIN_TOKEN=p` }
    const ofLocal = { '.env.local': `SYNC_CARD_URL=${LOCAL}\nADMIN_TOKEN=z` }
    const start1 = { '.wrangler/start-1.json': startedRecord('s') }
    const rows: [given: Given, token: string, tokenFrom: string | undefined][] = [
      [{ flags: { url: B, token: 'flag' }, env: inShell }, 'flag', '--token'],
      [{ env: { ...inShell, SYNC_CARD_TOKEN: 'x' } }, 'x', 'SYNC_CARD_TOKEN in the environment'],
      [{ env: inShell }, 'y', inAdmin],
      [{ flags: { url: A }, env: { SYNC_CARD_TOKEN: 'x' }, files: mine }, 'x', 'SYNC_CARD_TOKEN in the environment'],
      // That of the environment belongs to another URL.
      [{ flags: { url: A }, env: { SYNC_CARD_URL: B, ADMIN_TOKEN: 'y' }, files: mine }, 'of-file', inEnv],
      [{ flags: { host: 'prod' }, files: { ...mine, ...ofProd } }, 'p', 'ADMIN_TOKEN in .env.prod'],
      [
        { flags: { host: 'my-prod' }, env: shellOfMyProd, files: myProd },
        'c',
        'SYNC_CARD_TOKEN_MY_PROD in the environment',
      ],
      [{ files: started }, 'of-start', '.wrangler/start-8787.json of npm start'],
      // Rather than one of another host.
      [
        { flags: { url: 'http://localhost:1' }, env: inShell, files: { ...mine, ...start1 } },
        's',
        '.wrangler/start-1.json of npm start',
      ],
      [{ flags: { host: 'local' }, files: { ...ofLocal, ...started } }, 'z', 'ADMIN_TOKEN in .env.local'],
    ]
    for (const [given, token, tokenFrom] of rows)
      expect(resolve(given), JSON.stringify(given)).toMatchObject({ token, tokenFrom })
  })

  it('and not that of an npm start which has ended or is not known: another program may have its port', () => {
    const record = startedRecord('of-start')
    // A process id that is used again, one of no process, and a file that is not complete.
    const other = [/"began":"[^"]*"/, /"pid":\d+/].map((part, index) =>
      record.replace(part, ['"began":"1"', '"pid":4194305'][index] ?? ''),
    )
    for (const text of [...other, record.slice(0, 20)])
      expect(messageOf({ files: { '.wrangler/start-8787.json': text } })).toMatch(
        /^There is no token for http:\/\/127\.0\.0\.1:8787\./,
      )
  })

  it('and rejects others with the reason and what to do', () => {
    expectMessages([
      [
        { flags: { url: B }, files: mine },
        `The SYNC_CARD_TOKEN in .env is for ${A}, the SYNC_CARD_URL there, and is not sent to ${B}.`,
        ...[`SYNC_CARD_URL=${B}`, '.env.NAME, and name the host with --host NAME'],
      ],
      [{ flags: { url: 'http://a.example.com' }, files: mine }, 'is not sent to http://a.example.com'],
      [{ flags: { url: `${A}:8443` }, files: mine }, `is not sent to ${A}:8443`],
      [
        { flags: { url: B }, files: { '.env': 'ADMIN_TOKEN=z' } },
        `.env does not say which host its ADMIN_TOKEN is for, so it is not sent to ${B}.`,
        `add this line to .env: SYNC_CARD_URL=${B}`,
      ],
      [
        { flags: { host: 'prod' }, env: { SYNC_CARD_URL: B, ADMIN_TOKEN: 'y' }, files: profile },
        ...[`The ADMIN_TOKEN in the environment is for ${B}`, '.env.prod'],
      ],
      [
        { flags: { url: B } },
        ...[`There is no token for ${B}.`, `Use --url ${B} with --token`, 'write both into .env.'],
        `SYNC_CARD_URL=${B} and SYNC_CARD_TOKEN in the environment`,
      ],
      // That of npm start is for one host only.
      ...['http://127.0.0.1:8788', 'http://127.0.0.2:8787', 'http://[::1]:8787', 'https://127.0.0.1:8787'].map(
        url => [{ flags: { url }, files: started }, `There is no token for ${url}.`] as const,
      ),
      [{ flags: { url: 'http://a.test:8787' }, files: started }, 'There is no token for http://a.test:8787.'],
      [{}, `There is no token for ${LOCAL}. npm start makes one, for commands in its clone while it runs.`],
      [{ flags: { token: 'hidden\n' } }, 'The token has characters that no token can have (--token)'],
    ])
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

/** Where the host may be named, each column: another port is one of this machine in sync-card.yaml. */
const hosts = {
  '--url': { flags: { url: A } },
  '--host': { flags: { host: 'prod' }, files: profile },
  'sync-card.yaml': { files: profile },
  '.env': { files: { '.env': `SYNC_CARD_URL=${A}` } },
  'another host of sync-card.yaml': { files: { 'sync-card.yaml': `hosts: { prod: { url: ${B} } }` } },
  'another port': { files: { 'sync-card.yaml': 'hosts: { prod: { url: "http://127.0.0.1:9" } }' } },
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
        try {
          const flags = { ...named.flags, ...token.flags }
          const found = find({ flags, env: { ...named.env, ...token.env }, files })
          return found.token === 'T' ? found.url : undefined
        } catch (error) {
          if (error instanceof UsageError) return undefined
          throw error
        }
      })
      expect(arrived, tokenFrom).toEqual(table[tokenFrom as keyof typeof tokens])
    }
  })

  it('is withheld with the reason and what to type', () => {
    expectMessages([
      [
        { env: { ADMIN_TOKEN: 'hidden' }, files: profile },
        `The ADMIN_TOKEN in the environment is not sent to ${A}: only profile prod in sync-card.yaml names that host, and its author would get the token. If it is for that host, add --url ${A}, or set SYNC_CARD_URL=${A} beside it.`,
      ],
      [
        { flags: { host: 'prod' }, env: { SYNC_CARD_TOKEN: 'hidden' }, files: profile },
        `add --url ${A}, or set SYNC_CARD_URL=${A} beside it, or name the variable SYNC_CARD_TOKEN_PROD.`,
      ],
      [{ env: { SYNC_CARD_TOKEN_PROD: 'hidden' }, files: profile }, 'If it is for that host, add --host prod.'],
      [
        { flags: { token: 'hidden' }, files: { '.env': `SYNC_CARD_URL=${A}` } },
        `--token is not sent to ${A}: only SYNC_CARD_URL in .env names that host, and its author would get the token. If it is for that host, add --url ${A}.`,
      ],
    ])
  })
})

it('finds a host without a token, and gives the reason', () => {
  const given = { flags: { url: B }, files: { '.env': `SYNC_CARD_URL=${A}\nADMIN_TOKEN=x` } }
  expect(find(given)).toEqual({ url: B, token: '', urlFrom: '--url', tokenFrom: containing(`is for ${A}`) })
})

describe('sync-card.yaml', () => {
  it('is rejected with the place of each mistake', () => {
    const prod = `hosts:\n  prod:\n    url: ${A}`
    const rows: [text: string, ...messages: string[]][] = [
      ['hosts: {', 'sync-card.yaml:1:8 (document) This is not YAML. The { here has no closing }.'],
      ['- prod', 'sync-card.yaml:1:1 (document) must be an object'],
      ['hosts:\n  prod: a.test\n', 'sync-card.yaml:2:3 /hosts/prod must be an object'],
      [
        'host: x\nhosts: {}',
        'sync-card.yaml:1:1 /host is not a known field here. Did you mean "hosts"? Known fields: ',
      ],
      [`${prod}\n    token: hidden`, 'sync-card.yaml:4:5 /hosts/prod/token does not belong in this file: write it'],
      // The name of the variable with a token, which a clone of another person could choose.
      [
        `${prod}\n    tokenFrom: env:GITHUB_TOKEN`,
        '/hosts/prod/tokenFrom is not a known field here. Known fields: url, set',
      ],
      ['hosts:\n  prod: {}', '/hosts/prod/url is missing'],
      [`${prod}\n    set: My Cards`, '/hosts/prod/set must be lowercase letters, digits and hyphens'],
      [`hosts: { ../prod: { url: ${A} } }`, '/hosts/..~1prod is not the name of a host'],
      [`default: prd\n${prod}`, 'sync-card.yaml:1:1 /default names no host: "prd" is neither under hosts, nor'],
      [
        'hosts:\n  prod: { url: 1 }\n  beta: { url: x }',
        ...['/hosts/prod/url must be a string', '/hosts/beta/url must be the URL'],
      ],
    ]
    expectMessages(rows.map(([text, ...parts]) => [{ files: { 'sync-card.yaml': text } }, ...parts] as const))
  })

  it('may be empty', () => {
    expect(find({ files: { 'sync-card.yaml': '# later\n' } })).toMatchObject({ url: LOCAL })
  })
})

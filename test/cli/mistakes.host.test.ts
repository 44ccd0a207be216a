import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { sharedHost, token } from '../support/host.ts'
import { Workspace } from './workspace.ts'

// What owners write and do wrong, through the command line and through PUT: a message names mistake, place and fix.

const host = sharedHost()
const admin = { SYNC_CARD_URL: host.url.origin, SYNC_CARD_TOKEN: token }
const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }

const skill = (more: object = {}) => ({
  ...{ id: 'forecast', name: 'Forecast', description: 'Returns the weather forecast of a place for a date' },
  ...{ tags: ['weather'], examples: ['Will it rain in Berlin?'], ...more },
})
const card = (more: object = {}) => ({
  ...{ name: 'Weather', description: 'Forecasts the weather of any place', url: 'https://weather.example.com/a2a' },
  ...{ version: '1.0.0', skills: [skill()], ...more },
})
/** A card in A2A 1.0, whose only interface has these members. */
const interfaceWith = (more: object) => {
  const { url, ...rest } = card()
  return { ...rest, supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', ...more }] }
}
const manifest = (more: object) => ({ card: card(), ...more })

type Finding = { pointer: string; message: string }

/** Lints files with one command, and returns the lines about each: the place, the JSON Pointer and the message. */
const lint = async (files: Record<string, unknown>): Promise<string[][]> => {
  const { stdout } = await new Workspace(files).run(['lint'])
  const lines = [...stdout.matchAll(/^ {2}(\S+?):(\d+:\d+) (?:error|warning|info) (.*)$/gm)]
  return Object.keys(files).map(file => lines.flatMap(([, name, at, text]) => (name === file ? [`${at} ${text}`] : [])))
}

/** Returns the URL of a port at which nothing listens any more. */
const findDeadUrl = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(closed => server.close(closed))
  return `http://127.0.0.1:${port}`
}

/** The ids of agents that a mistake does not keep from being registered. */
const registered: string[] = []

/** Registers a text as it is, and returns the response. */
const put = async (id: string, body: string, more: Record<string, string> = {}) => {
  const response = await host.fetch(`/agents/${id}`, { method: 'PUT', headers: { ...headers, ...more }, body })
  if (response.ok) registered.push(id)
  return {
    status: response.status,
    body: (await response.json()) as { detail?: string; errors?: Finding[]; report?: { issues: Finding[] } },
  }
}

afterAll(async () => {
  for (const id of registered) await host.fetch(`/agents/${id}`, { method: 'DELETE', headers })
})

const QUOTES = /double quotes, as in "name": "Weather"/

it.each<
  [
    kind: string,
    file: string,
    put: RegExp | undefined,
    rows: [what: string, text: string, at: string, message: RegExp][],
  ]
>([
  [
    'YAML',
    'yaml',
    /looks like YAML .* \(sync-card converts it\) \(line 1, column 1\)/,
    [
      [
        'an unquoted colon',
        'name: A\ndescription: Weather: forecasts\n',
        '2:21',
        /needs quotes: description: "Weather: fo/,
      ],
      ['a colon at the end', 'name: A\ndescription: Answers:\n', '2:21', /needs quotes/],
      ['no space after a colon', 'name: A\nurl:https://a.example.com\n', '2:4', /space is missing after this colon/],
      ['no space after any colon', 'name:A\nurl:x\n', '1:1', /with a space after each colon, as in `name: Weather`/],
      ['no colon', 'name: A\ndescription\n', '2:1', /colon is missing, as in name: Weather/],
      ['a tab', 'card:\n\tname: A\n', '2:1', /Indent with spaces: YAML does not allow tabs/],
      ['too much indentation', 'name: A\n   url: x\n', '2:4', /Indent this line as far as the one above/],
      [
        'too little indentation',
        'card:\n    name: A\n  url: x\n',
        '3:3',
        /Indent this line as far as the other members/,
      ],
      [
        'too little in a list',
        'skills:\n  - id: a\n   name: b\n',
        '3:4',
        /Indent this line as far as the other members/,
      ],
      ['no closing quote', 'name: "A\nurl: x\n', '1:7', /The " here has no closing "/],
      ['no closing bracket', 'name: A\ntags: [a, b\nurl: x\n', '2:7', /The \[ here has no closing \]/],
      ['a quote within quotes', "name: 'it's'\n", '1:10', /text ends at this quote: write a quote in it as/],
      ['@ at the beginning', 'name: @weather\n', '1:7', /needs quotes, as in name: "@weather"/],
      ['a backtick', 'name: `weather`\n', '1:7', /begins with this character needs quotes/],
      ['an asterisk', 'name: *bold* text\n', '1:7', /begins with this character needs quotes/],
      ['a tag', 'name: !important\n', '1:7', /begins with this character needs quotes/],
      ['a bracket', 'name: [beta] Weather\n', '1:7', /begins with a bracket needs quotes, as in name: "\[beta\]/],
      ['an unknown alias', 'name: *weather\n', '1:7', /Alias \*weather has no anchor &weather before it/],
      [
        'a template',
        'name: A\nurl: {{ URL }}/a2a\n',
        '2:6',
        /Replace the template .* by its value, or put the text in quotes/,
      ],
      ['only a template', 'name: {{ NAME }}\n', '1:8', /Replace the template .* by its value/],
      ['a backslash', 'name: "C:\\dir"\n', '1:10', /backslash within double quotes as \\\\/],
      ['a key twice', 'name: A\nurl: x\nname: B\n', '3:1', /already has the key "name", in line 1/],
      [
        'two documents',
        'name: A\n---\nname: B\n',
        '2:1',
        /more than one document. Write each agent in a file of its own/,
      ],
      ['a Git conflict', 'name: A\n<<<<<<< HEAD\nurl: x\n', '2:1', /Resolve this Git conflict/],
    ],
  ],
  [
    'JSON',
    'json',
    undefined,
    [
      ['a trailing comma', '{\n  "name": "A",\n  "url": "x",\n}\n', '4:1', /Remove the comma before this bracket/],
      ['a trailing comma in a list', '{\n  "tags": ["a",\n  ]\n}\n', '3:3', /Remove the comma before this bracket/],
      ['a comma too many', '{\n  "name": "A",,\n  "url": "x"\n}\n', '2:15', /Remove this comma/],
      ['a missing comma', '{\n  "name": "A"\n  "url": "x"\n}\n', '3:3', /Write a comma before this/],
      ['a missing colon', '{\n  "name" "A"\n}\n', '2:10', /Write a colon before this, as in "name": "Weather"/],
      ['single quotes', "{\n  'name': 'A'\n}\n", '2:3', QUOTES],
      ['a value in single quotes', '{\n  "name": \'A\'\n}\n', '2:11', QUOTES],
      ['typographic quotes', '{\n  “name”: “A”\n}\n', '2:3', QUOTES],
      ['a name without quotes', '{\n  name: "A"\n}\n', '2:3', QUOTES],
      ['a text without quotes', '{\n  "name": Weather\n}\n', '2:11', QUOTES],
      ['a comment', '{\n  // The name\n  "name": "A"\n}\n', '2:3', /Remove this comment: JSON has none/],
      ['NaN', '{\n  "version": NaN\n}\n', '2:14', /Write null or a number/],
      ['True', '{\n  "streaming": True\n}\n', '2:16', /true, false or null, in lower-case letters/],
      ['a number with a zero', '{\n  "ttl": 030\n}\n', '2:10', /Write the number as in 5, -0.5 or 1e3/],
      ['a template', '{\n  "url": {{ URL }}\n}\n', '2:11', /Replace this template by its value/],
      ['no closing quote', '{\n  "name": "A,\n  "url": "x"\n}\n', '2:11', /Close this text with "/],
      ['a tab in a text', '{\n  "name": "A\tB"\n}\n', '2:13', /Write a tab as \\t/],
      ['a backslash', '{\n  "name": "C:\\dir"\n}\n', '2:14', /Write a backslash as \\\\/],
      [
        'a file that ends early',
        '{\n  "name": "A",\n  "skills": [\n',
        '4:1',
        /Write \] here: the \[ of line 3 is open/,
      ],
      ['the wrong bracket', '{\n  "tags": ["a"}\n}\n', '2:15', /Write \] here: the \[ of line 2 is open/],
      ['two cards', '{"name": "A"}\n{"name": "B"}\n', '2:1', /each agent has a document of its own/],
      ['an invisible space', '{\n\u00a0 "name": "A"\n}\n', '2:1', /Remove this invisible character/],
      ['a Git conflict', '{\n<<<<<<< HEAD\n  "name": "A"\n}\n', '2:1', /Resolve this Git conflict/],
      ['YAML', 'name: A\n', '1:1', /looks like YAML or Markdown: name the file .yaml/],
      ['HTML', '<!doctype html>\n', '1:1', /HTML or XML/],
    ],
  ],
])('explains each mistake in %s at its place, and what to write there', async (kind, extension, putMessage, rows) => {
  const found = await lint(Object.fromEntries(rows.map(([, text], index) => [`cards/${index}.${extension}`, text])))
  for (const [index, [what, text, at, message]] of rows.entries()) {
    expect.soft(found[index]?.[0], what).toMatch(new RegExp(`^${at} \\(document\\) .*${message.source}`))
    const { status, body } = await put('mistake-syntax', text)
    const place = `\\(line ${at.replace(':', ', column ')}\\)`
    expect
      .soft(`${status} ${body.detail}`, `PUT ${kind}: ${what}`)
      .toMatch(putMessage ?? new RegExp(`^400 This is not JSON\\. .*${message.source}.*${place}`))
  }
})

it('explains each mistake in a document at its place in the file and at its JSON Pointer', async () => {
  const url = 'https://weather.example.com/a2a'
  const looksLikeSecret = 'sk-proj-Zq7Vt2Xw9Lm4Np6Rk8Ys3'
  /** `put` is the message of the host, where that differs. */
  const rows: readonly (readonly [what: string, document: unknown, at: string, message: RegExp, put?: RegExp])[] = [
    ['no name', { ...card(), name: undefined }, '1:1 /name', /is missing/],
    [
      'a misspelled name',
      { nme: 'A', ...card(), name: undefined },
      '1:1 /name',
      /you write "nme" for "name"/,
      /is missing/,
    ],
    ['null for a name', card({ name: null }), '2:3 /name', /is missing. It has no value/, /is missing/],
    ['an empty name', card({ name: '' }), '2:3 /name', /must not be empty/],
    ['a number for a name', card({ name: 5 }), '2:3 /name', /must be a string/],
    ['a control character', card({ name: 'A\u0007' }), '2:3 /name', /one line, without control characters/],
    ['no description', { ...card(), description: undefined }, '1:1 /description', /is missing/],
    ['no URL', { ...card(), url: undefined }, '1:1 /url', /is missing: add the agent's `url`/],
    ['nothing', {}, '1:1 /url', /is missing: add the agent's `url`/],
    ['an array', [card()], '1:1 ', /must be an object: one card or manifest in each file/, /must be a JSON object/],
    [
      'a URL without a scheme',
      card({ url: 'weather.example.com' }),
      '4:3 /url',
      /is relative: it must be absolute, such/,
    ],
    ['a path for a URL', card({ url: '/a2a' }), '4:3 /url', /is relative: it must be absolute, such as https/],
    ['a URL of another scheme', card({ url: 'ws://weather.example.com' }), '4:3 /url', /http or https, such as https/],
    [
      'a password in a URL',
      card({ url: 'https://me:pass@a.example.com' }),
      '4:3 /url',
      /not contain a user name or pass/,
    ],
    ['a placeholder', card({ url: 'https://<your-host>/a2a' }), '4:3 /url', /looks like a placeholder: replace it/],
    ['localhost', card({ url: 'http://localhost:9000' }), '4:3 /url', /local or private address .*: use a public one/],
    [
      'a private address',
      card({ url: 'https://10.0.0.1/a2a' }),
      '4:3 /url',
      /local or private address .*: use a public/,
    ],
    ['http', card({ url: 'http://weather.example.com' }), '4:3 /url', /is http, .*: use https/],
    [
      'the URL of a card',
      card({ url: 'https://a.example.com/agent.json' }),
      '4:3 /url',
      /is the URL of a card, .*: use/,
    ],
    ['a version that is none', card({ version: 'one' }), '5:3 /version', /not a semantic version, such as "1.4.0"/],
    ['an object of skills', card({ skills: { id: 'a' } }), '6:3 /skills', /must be a list/],
    ['a skill that is null', card({ skills: [null] }), '7:5 /skills/0', /must be an object/],
    ['a text of tags', card({ skills: [skill({ tags: 'a, b' })] }), '11:7 /skills/0/tags', /must be a list of strings/],
    [
      'one id for two skills',
      card({ skills: [skill(), skill()] }),
      '19:7 /skills/1/id',
      /repeats the id .*: give each skill/,
    ],
    [
      'a misspelled field',
      card({ capabilites: {} }),
      '19:3 /capabilites',
      /not read by clients; did you mean capabilities/,
    ],
    [
      'a misspelled capability',
      card({ capabilities: { streeming: true } }),
      '20:5 /capabilities/streeming',
      /mean streaming/,
    ],
    [
      'a text for a flag',
      card({ capabilities: { streaming: 'yes' } }),
      '20:5 /capabilities/streaming',
      /must be true or/,
    ],
    [
      'a mode that is none',
      card({ defaultInputModes: ['json'] }),
      '20:5 /defaultInputModes/0',
      /such as "text\/plain"/,
    ],
    [
      'an unknown version of A2A',
      card({ protocolVersion: '9.9' }),
      '19:3 /protocolVersion',
      /is not a version of A2A, such as/,
    ],
    [
      'a text of security',
      card({ security: 'bearer' }),
      '19:3 /security',
      /list of requirements, such as \[\{ "bearer": \[\] \}\]/,
    ],
    [
      'an unknown scheme',
      card({ security: [{ oauth: [] }] }),
      '21:7 /security/0/oauth',
      /not defined in `securitySchemes`, .*: def/,
    ],
    [
      'a type of no scheme',
      card({ securitySchemes: { a: { type: 'bearer' } }, security: [{ a: [] }] }),
      '20:5 /securitySchemes/a',
      /write \{ "type": "http"/,
    ],
    [
      'a scheme without its URL',
      card({ securitySchemes: { a: { type: 'openIdConnect' } } }),
      '20:5 /securitySchemes/a/openIdConnectUrl',
      /is missing/,
    ],
    [
      'an icon in its URL',
      card({ iconUrl: 'data:image/png;base64,AA==' }),
      '19:3 /iconUrl',
      /must be an http or https URL/,
    ],
    [
      'a huge icon',
      card({ iconUrl: `data:image/png;base64,${'A'.repeat(20_000)}` }),
      '19:3 /iconUrl',
      /must be an http or https/,
    ],
    [
      'a long text',
      card({ description: 'x'.repeat(20_000) }),
      '3:3 /description',
      /is 20000 characters long; at most 16384/,
    ],
    [
      'a key',
      card({ description: looksLikeSecret }),
      '3:3 /description',
      /looks like a key.*: remove it and revoke it/,
    ],
    ['a text for a provider', card({ provider: 'ACME' }), '19:3 /provider', /needs both, as in \{ "organization"/],
    [
      'an unknown binding',
      interfaceWith({ protocolBinding: 'SOAP' }),
      '21:7 /supportedInterfaces/0/protocolBinding',
      /\(JSONRPC, HTTP\+JSON or GRPC\).*: use one/,
    ],
    ['an interface without a URL', interfaceWith({ url: undefined }), '19:5 /supportedInterfaces/0/url', /is missing/],
    [
      'a misspelled field of a manifest',
      manifest({ visibilty: 'internal' }),
      '21:3 /visibilty',
      /not a known field here.* visibility/,
    ],
    [
      'a misspelled field of upstream',
      manifest({ upstream: { secrt: 'A' } }),
      '22:5 /upstream/secrt',
      /not a known field here.* secret/,
    ],
    ['a field of a manifest in a card', card({ route: 'gateway' }), '19:3 /route', /move the card under `card`/],
    ['a field of a card in a manifest', manifest({ skills: [] }), '21:3 /skills', /Fields of the card go under `card`/],
    ['an unknown visibility', manifest({ visibility: 'private' }), '21:3 /visibility', /must be public or internal/],
    ['an unknown route', manifest({ route: 'proxy' }), '21:3 /route', /must be direct, gateway or closed/],
    ['unknown callers', manifest({ callers: 'everyone' }), '21:3 /callers', /must be anyone, tokens or issuer/],
    ['an unknown level', manifest({ gate: { modes: 'on' } }), '22:5 /gate/modes', /must be off, warn or enforce/],
    [
      'a URL for a host name',
      manifest({ hosts: [url] }),
      '22:5 /hosts/0',
      /must be a host name in lower case, without scheme/,
    ],
    ['a text of host names', manifest({ hosts: 'a.example.com' }), '21:3 /hosts', /must be a list of host names/],
    [
      'a set with spaces',
      manifest({ set: 'Team One' }),
      '21:3 /set',
      /must be 1 to 63 lower-case letters, digits and hyphens/,
    ],
    [
      'an id with capitals',
      manifest({ id: 'Weather Agent' }),
      '21:3 /id',
      /must be 1 to 63 lower-case letters, digits and hy/,
    ],
    ['a number for an id', manifest({ id: 5 }), '21:3 /id', /must be a string/],
    [
      'a secret for its name',
      manifest({ upstream: { secret: looksLikeSecret } }),
      '22:5 /upstream/secret',
      /the name of a Worker secret, .*such as WEATHER_TOKEN, never its value/,
    ],
    [
      'a text of upstream',
      manifest({ upstream: url }),
      '21:3 /upstream',
      /an object with url, card, mcp, service or secret/,
    ],
    [
      'a tier that is none',
      manifest({ callers: 'issuer', jwt: { audience: 'a', tiers: { gold: { scope: 'g' } } } }),
      '25:7 /jwt/tiers/gold',
      /add it to `tiers`/,
    ],
    [
      'an issuer without an audience',
      manifest({ callers: 'issuer', route: 'gateway' }),
      '21:3 /callers',
      /needs `jwt.audience`/,
    ],
    [
      'the own host behind the gateway',
      manifest({ route: 'gateway', card: card({ description: 'At weather.example.com' }) }),
      '4:5 /card/description',
      /contains the agent's own address.*: remove it/,
    ],
  ]
  const found = await lint(
    Object.fromEntries(rows.map(([, document], index) => [`cards/mistake-${index}.json`, document])),
  )
  for (const [index, [what, document, at, message, putMessage = message]] of rows.entries()) {
    const [place = '', pointer = ''] = at.split(' ')
    const line = new RegExp(`^${place} ${pointer || '\\(document\\)'} .*${message.source}`)
    expect.soft(found[index], what).toContainEqual(expect.stringMatching(line))
    const { body } = await put(`mistake-${index}`, JSON.stringify(document))
    const findings = [...(body.errors ?? []), ...(body.report?.issues ?? [])].map(
      each => `${each.pointer} ${each.message}`,
    )
    expect
      .soft(findings, `PUT: ${what}`)
      .toContainEqual(expect.stringMatching(new RegExp(`^${pointer} .*${putMessage.source}`)))
  }
})

it('explains each mistake with files, tokens and hosts', async () => {
  const issue = async (scopes: string[], agents = ['*']): Promise<string> =>
    (await host.issue({ scopes, agents })).token
  const [reader, other] = [await issue(['read']), await issue(['write'], ['other-*'])]
  const revoked = await host.issue({ scopes: ['write'] })
  await host.fetch(`/tokens/${revoked.id}`, { method: 'DELETE', headers })
  const one = { 'cards/mistake-one.json': card() }
  const claims = (hosts: string[]) => ({ card: card(), hosts })
  const bytes = (text: string, encoding: BufferEncoding) => Buffer.from(text, encoding)
  const withToken = (SYNC_CARD_TOKEN: string) => ({ ...admin, SYNC_CARD_TOKEN })
  const withUrl = (SYNC_CARD_URL: string) => ({ ...admin, SYNC_CARD_URL })
  type Row = readonly [
    what: string,
    files: Record<string, unknown>,
    output: RegExp,
    code: number,
    env?: Record<string, string>,
    args?: string[],
  ]
  const rows: readonly Row[] = [
    ['no folder', {}, /There is no folder cards here. Create one: npx sync-card init/, 2],
    ['a folder without cards', { 'cards/README.md': '' }, /cards has no cards. Create one: npx sync-card init/, 2],
    [
      'a file that does not exist',
      one,
      /cards\/mistake-on.json does not exist. Did you mean "cards\/mistake-one.json"/,
      2,
      admin,
      ['cards/mistake-on.json'],
    ],
    ['a misspelled option', one, /unknown option '--dryrun'\s+\(Did you mean --dry-run\?\)/, 2, admin, ['--dryrun']],
    [
      'an empty file',
      { 'cards/a.yaml': '' },
      /a.yaml:1:1 error \(document\) The file is empty; expected a card or a manifest/,
      3,
    ],
    [
      'UTF-16',
      { 'cards/a.yaml': bytes('\ufeffname: A', 'utf16le') },
      /a.yaml:1:1 error .* is UTF-16, not UTF-8: save it as UTF-8/,
      3,
    ],
    [
      'UTF-16 without a mark',
      { 'cards/a.yaml': bytes('name: A', 'utf16le') },
      /a.yaml:1:1 error .* has NUL characters, as UTF-16 does: save/,
      3,
    ],
    [
      'Latin-1',
      { 'cards/a.yaml': bytes('name: Gr\xfc\xdfe', 'latin1') },
      /a.yaml:1:9 error .* is not UTF-8: the byte 0xFC .*; save it as UTF-8/,
      3,
    ],
    [
      'another format',
      { 'a.toml': 'name = "A"' },
      /a.toml:1:1 error .* must be an object: one card or manifest in each file/,
      3,
      admin,
      ['a.toml'],
    ],
    [
      'a file name with spaces',
      { 'cards/My Agent.json': card() },
      /1:1 error \/id .* name the file my-agent.json, or write `id: my-agent`/,
      3,
    ],
    [
      'a huge card',
      { 'cards/a.json': card({ icon: 'x'.repeat(300_000) }) },
      /a.json:1:1 error .* the limit is 262144: link to icons and/,
      3,
    ],
    [
      'two files with one id',
      { 'cards/a.json': card(), 'cards/b.json': { card: card(), id: 'a' } },
      /a.json:1:1 error \/id "a" is also the id of cards\/b.json: change/,
      3,
    ],
    [
      'two files with one host name',
      { 'cards/mistake-a.json': claims(['one.test']), 'cards/mistake-b.json': claims(['two.test', 'one.test']) },
      /mistake-b.json:23:5 error \/hosts\/1 "one.test" is also a host name of cards\/mistake-a.json: change/,
      3,
    ],
    [
      'a host name of another agent',
      { 'cards/mistake-c.json': claims(['taken.mistake.test']) },
      /mistake-c.json:21:3 error \/hosts has "taken.mistake.test", which belongs to agent "mistake-owner"/,
      3,
    ],
    [
      'host names to inherit',
      { ...one, 'cards/defaults.yaml': 'hosts: [a.test]' },
      /defaults.yaml:1:1 error \/hosts .* cannot be inherited: write it into the file of/,
      3,
    ],
    [
      'a misspelled default',
      { ...one, 'cards/defaults.yaml': 'visibilty: internal' },
      /defaults.yaml:1:1 error \/visibilty .* Did you mean "visibility"/,
      3,
    ],
    [
      'a list of defaults',
      { ...one, 'cards/defaults.yaml': '- a' },
      /defaults.yaml:1:1 error .* must be an object, such as `set: my-team`/,
      3,
    ],
    [
      'a text for an external agent',
      { 'cards/agents.json': { weather: 'https://w.test' } },
      /agents.json:2:3 error \/weather must be an object with a `url`/,
      3,
    ],
    [
      'an external agent without a URL',
      { 'cards/agents.json': { weather: {} } },
      /agents.json:2:3 error \/weather\/url must be the URL where/,
      3,
    ],
    [
      'Markdown without front matter',
      { 'cards/a.md': 'name: A' },
      /a.md:1:1 error .* write the card between two lines of ---/,
      3,
    ],
    [
      'front matter without an end',
      { 'cards/a.md': '---\nname: A' },
      /a.md:1:1 error .* its closing line of --- is missing/,
      3,
    ],
    [
      'a lint error',
      { 'cards/mistake-d.json': card({ url: 'https://a.test/agent.json' }) },
      /not sent {2}mistake-d .* --force\n.*mistake-d.json:4:3 error \/url/,
      3,
    ],
    [
      'a secret that the host lacks',
      { 'cards/mistake-e.json': manifest({ route: 'gateway', upstream: { secret: 'NO_SUCH' } }) },
      /mistake-e.json:23:5 warning \/upstream\/secret .* Run `npx wrangler secret put NO_SUCH`/,
      0,
    ],
    [
      'no token',
      one,
      /There is no token for http:.* set SYNC_CARD_URL=http:\S+ and SYNC_CARD_TOKEN in the environment/,
      2,
      withToken(''),
    ],
    [
      'Bearer in a token',
      one,
      /characters that no token can have \(SYNC_CARD_TOKEN in the environment\): leave out .* Bearer/,
      2,
      withToken(`Bearer ${token}`),
    ],
    [
      'quotes around a token',
      one,
      /no token can have \(SYNC_CARD_TOKEN in the environment\): leave out quotes/,
      2,
      withToken(`"${token}"`),
    ],
    [
      'a wrong token',
      one,
      /rejects the token \(401\), which is wrong, expired or revoked: SYNC_CARD_TOKEN in the environment/,
      4,
      withToken('wrong'),
    ],
    [
      'a revoked token',
      one,
      /rejects the token \(401\), which is wrong, expired or revoked/,
      4,
      withToken(revoked.token),
    ],
    [
      'a token that only reads',
      one,
      /forbidden mistake-one .* lacks the scope `write`: use one that has it/,
      4,
      withToken(reader),
    ],
    [
      'a token for other agents',
      one,
      /forbidden mistake-one .* does not cover agent "mistake-one": use a token that does/,
      4,
      withToken(other),
    ],
    [
      'a URL without a scheme',
      one,
      /SYNC_CARD_URL in the environment: "\S+" is not the URL of a host. Use one such as https:/,
      2,
      withUrl(host.url.host),
    ],
    [
      'a URL with a path',
      one,
      /\/agents is not a Calling Card host: .*; try http:\S+, without a path/,
      4,
      withUrl(`${host.url.origin}/agents`),
    ],
    [
      'a blocked port',
      one,
      /port 6000 is blocked by fetch and browsers: use another/,
      4,
      withUrl('http://127.0.0.1:6000'),
    ],
    ['https for http', one, /use http:\/\/127/, 4, withUrl(host.url.origin.replace('http:', 'https:'))],
    ['a host that is down', one, /refused/i, 4, withUrl(await findDeadUrl())],
    ['an unknown host name', one, /no-such-host\.invalid/, 4, withUrl('http://no-such-host.invalid')],
    [
      'an unknown host',
      { ...one, 'sync-card.yaml': 'hosts: { prod: { url: https://a.test } }' },
      /no host "prd". Did you mean "prod"\?/,
      2,
      {},
      ['--host', 'prd'],
    ],
    [
      'a host that is no object',
      { ...one, 'sync-card.yaml': 'hosts:\n  prod: a.test\n' },
      /sync-card.yaml:2:3 \/hosts\/prod must be an object/,
      2,
      {},
    ],
    [
      'pruning without a set',
      one,
      /--prune deletes only agents of the set of a folder, but cards has none. Write `set: my-cards`/,
      2,
      admin,
      ['--prune', '--yes'],
    ],
  ]
  await put('mistake-owner', JSON.stringify(claims(['taken.mistake.test'])))
  registered.push('mistake-e')
  for (const [what, files, output, code, env = admin, args = []] of rows) {
    const ended = await new Workspace(files).run(['--retries', '0', ...args], env)
    expect.soft(ended.stdout + ended.stderr, what).toMatch(output)
    expect.soft(ended.code, what).toBe(code)
  }
})

it('explains each mistake in a request, and which one to send', async () => {
  const body = JSON.stringify(card())
  const quoted = JSON.stringify(token)
  type Row = readonly [
    what: string,
    request: string,
    status: number,
    detail: RegExp,
    more?: Record<string, string>,
    body?: string | Buffer,
  ]
  const rows: readonly Row[] = [
    [
      'POST instead of PUT',
      'POST /agents/mistake-new',
      200,
      /This is a card, not a call. To register it, send PUT \/agents\/\{id\}/,
    ],
    [
      'POST of a manifest',
      'POST /agents/mistake-new',
      200,
      /To register it, send PUT/,
      {},
      JSON.stringify(manifest({})),
    ],
    [
      'POST to the list',
      'POST /agents',
      405,
      /supports GET, HEAD, OPTIONS, not POST. To register an agent, send its card with PUT \/agents\/\{id\}/,
    ],
    ['PUT without an id', 'PUT /agents/', 405, /send its card with PUT \/agents\/\{id\}/],
    [
      'PUT of the served card',
      'PUT /agents/mistake-new/.well-known/agent-card.json',
      405,
      /send its card with PUT \/agents\/\{id\}/,
    ],
    ['PUT of the root card', 'PUT /.well-known/agent-card.json', 405, /send its card with PUT \/agents\/\{id\}/],
    ['PATCH', 'PATCH /agents/mistake-new', 405, /not PATCH. To register an agent, send its card with PUT/],
    [
      'a path that does not exist',
      'PUT /api/agents/mistake-new',
      404,
      /No such endpoint. .* PUT \/agents\/\{id\} registers one/,
    ],
    [
      'an id with capitals',
      'PUT /agents/Mistake',
      400,
      /"Mistake" is not a valid agent id: use 1 to 63 lower-case letters/,
    ],
    [
      'another id than that of the manifest',
      'PUT /agents/mistake-new',
      422,
      /\/id is "other", but the agent is registered as "mistake-new": use one id/,
      {},
      JSON.stringify(manifest({ id: 'other' })),
    ],
    [
      'YAML',
      'PUT /agents/mistake-new',
      415,
      /Send JSON, with `Content-Type: application\/json`. sync-card converts YAML/,
      { 'Content-Type': 'application/yaml' },
      'name: A',
    ],
    [
      'a form',
      'PUT /agents/mistake-new',
      415,
      /Send JSON, with `Content-Type: application\/json`/,
      { 'Content-Type': 'application/x-www-form-urlencoded' },
    ],
    ['nothing', 'PUT /agents/mistake-new', 400, /body is empty; expected a card or a manifest as JSON/, {}, ''],
    [
      'UTF-16',
      'PUT /agents/mistake-new',
      400,
      /not UTF-8 text, as JSON must be: the byte 0xFF at offset 0, in line 1/,
      {},
      Buffer.from('\ufeff{}', 'utf16le'),
    ],
    [
      'a huge card',
      'PUT /agents/mistake-new',
      413,
      /larger than 256 KiB. A card links to icons and documents/,
      {},
      JSON.stringify(card({ icon: 'x'.repeat(300_000) })),
    ],
    [
      'a name twice',
      'PUT /agents/mistake-new',
      422,
      /\/name is in its object twice, for the second time in line 2: remove one/,
      {},
      '{"name":"A",\n"name":"B"}',
    ],
    [
      'no token',
      'PUT /agents/mistake-new',
      401,
      /This needs a token: send `Authorization: Bearer <token>`/,
      { Authorization: '' },
    ],
    [
      'a token without Bearer',
      'PUT /agents/mistake-new',
      401,
      /was not sent as `Authorization: Bearer <token>`/,
      { Authorization: token },
    ],
    [
      'Bearer twice',
      'PUT /agents/mistake-new',
      401,
      /send one Authorization header with one bearer token/,
      { Authorization: `Bearer Bearer ${token}` },
    ],
    [
      'a token in quotes',
      'PUT /agents/mistake-new',
      401,
      /unknown, expired or revoked, or was not sent as/,
      { Authorization: `Bearer ${quoted}` },
    ],
    [
      'a condition for new agents',
      'PUT /agents/mistake-owned',
      412,
      /exists already. To replace it, send If-Match with the ETag of GET/,
      { 'If-None-Match': '*' },
    ],
    [
      'a condition that is not met',
      'PUT /agents/mistake-owned',
      412,
      /has changed since you read it. Read it again \(GET/,
      { 'If-Match': '"old"' },
    ],
    [
      'an agent that does not exist',
      'DELETE /agents/mistake-new',
      404,
      /No agent "mistake-new" exists here. GET \/agents lists agents/,
    ],
  ]
  await put('mistake-owned', body)
  for (const [what, request, status, detail, more = {}, sent = body] of rows) {
    const [method = '', path = ''] = request.split(' ')
    const response = await host.fetch(path, { method, headers: { ...headers, ...more }, body: sent })
    expect
      .soft(`${response.status} ${await response.text()}`.replaceAll('\\"', '"'), what)
      .toMatch(new RegExp(`^${status} .*${detail.source}`))
  }
})

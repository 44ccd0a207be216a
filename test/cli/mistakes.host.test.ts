import { afterAll, expect, it } from 'vitest'
import { findFreePort } from '../support/free-ports.ts'
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

/** Returns a URL at which nothing listens. */
const findDeadUrl = async (): Promise<string> => `http://127.0.0.1:${await findFreePort()}`

/** The ids of agents that a mistake does not keep from being registered. */
const registered: string[] = []

/** Registers a text as it is, and returns the response. */
const put = async (id: string, body: string, more: Record<string, string> = {}) => {
  const response = await host.fetch(`/agents/${id}`, { method: 'PUT', headers: { ...headers, ...more }, body })
  if (response.ok) registered.push(id)
  const document = (await response.json()) as { detail?: string; errors?: Finding[]; report?: { issues: Finding[] } }
  return { status: response.status, body: document }
}

afterAll(async () => {
  for (const id of registered) await host.fetch(`/agents/${id}`, { method: 'DELETE', headers })
})

/** A text, where its mistake is, and the message. */
type SyntaxRow = [text: string, at: string, message: RegExp]

const QUOTES = /double quotes, as in "name": "Weather"/

const yamlRows: SyntaxRow[] = [
  ['name: A\ndescription: Weather: forecasts\n', '2:21', /needs quotes: description: "Weather: fo/],
  ['name: A\ndescription: Answers:\n', '2:21', /needs quotes/],
  ['name: A\nurl:https://a.example.com\n', '2:4', /space is missing after this colon/],
  ['name:A\nurl:x\n', '1:1', /with a space after each colon, as in `name: Weather`/],
  ['name: A\ndescription\n', '2:1', /colon is missing, as in name: Weather/],
  ['card:\n\tname: A\n', '2:1', /Indent with spaces: YAML does not allow tabs/],
  ['name: A\n   url: x\n', '2:4', /Indent this line as far as the one above/],
  ['card:\n    name: A\n  url: x\n', '3:3', /Indent this line as far as the other members/],
  ['skills:\n  - id: a\n   name: b\n', '3:4', /Indent this line as far as the other members/],
  ['name: "A\nurl: x\n', '1:7', /The " here has no closing "/],
  ['name: A\ntags: [a, b\nurl: x\n', '2:7', /The \[ here has no closing \]/],
  ["name: 'it's'\n", '1:10', /text ends at this quote: write a quote in it as/],
  ['name: @weather\n', '1:7', /needs quotes, as in name: "@weather"/],
  ['name: `weather`\n', '1:7', /begins with this character needs quotes/],
  ['name: *bold* text\n', '1:7', /begins with this character needs quotes/],
  ['name: !important\n', '1:7', /begins with this character needs quotes/],
  ['name: [beta] Weather\n', '1:7', /begins with a bracket needs quotes, as in name: "\[beta\]/],
  ['name: *weather\n', '1:7', /Alias \*weather has no anchor &weather before it/],
  ['name: A\nurl: {{ URL }}/a2a\n', '2:6', /Replace the template .* by its value, or put the text in quotes/],
  ['name: {{ NAME }}\n', '1:8', /Replace the template .* by its value/],
  ['name: "C:\\dir"\n', '1:10', /backslash within double quotes as \\\\/],
  ['name: A\nurl: x\nname: B\n', '3:1', /already has the key "name", in line 1/],
  ['name: A\n---\nname: B\n', '2:1', /more than one document. Write each agent in a file of its own/],
  ['name: A\n<<<<<<< HEAD\nurl: x\n', '2:1', /Resolve this Git conflict/],
]

const jsonRows: SyntaxRow[] = [
  ['{\n  "name": "A",\n  "url": "x",\n}\n', '4:1', /Remove the comma before this bracket/],
  ['{\n  "tags": ["a",\n  ]\n}\n', '3:3', /Remove the comma before this bracket/],
  ['{\n  "name": "A",,\n  "url": "x"\n}\n', '2:15', /Remove this comma/],
  ['{\n  "name": "A"\n  "url": "x"\n}\n', '3:3', /Write a comma before this/],
  ['{\n  "name" "A"\n}\n', '2:10', /Write a colon before this, as in "name": "Weather"/],
  ["{\n  'name': 'A'\n}\n", '2:3', QUOTES],
  ['{\n  "name": \'A\'\n}\n', '2:11', QUOTES],
  ['{\n  “name”: “A”\n}\n', '2:3', QUOTES],
  ['{\n  name: "A"\n}\n', '2:3', QUOTES],
  ['{\n  "name": Weather\n}\n', '2:11', QUOTES],
  ['{\n  // The name\n  "name": "A"\n}\n', '2:3', /Remove this comment: JSON has none/],
  ['{\n  "version": NaN\n}\n', '2:14', /Write null or a number/],
  ['{\n  "streaming": True\n}\n', '2:16', /true, false or null, in lower-case letters/],
  ['{\n  "ttl": 030\n}\n', '2:10', /Write the number as in 5, -0.5 or 1e3/],
  ['{\n  "url": {{ URL }}\n}\n', '2:11', /Replace this template by its value/],
  ['{\n  "name": "A,\n  "url": "x"\n}\n', '2:11', /Close this text with "/],
  ['{\n  "name": "A\tB"\n}\n', '2:13', /Write a tab as \\t/],
  ['{\n  "name": "C:\\dir"\n}\n', '2:14', /Write a backslash as \\\\/],
  ['{\n  "name": "A",\n  "skills": [\n', '4:1', /Write \] here: the \[ of line 3 is open/],
  ['{\n  "tags": ["a"}\n}\n', '2:15', /Write \] here: the \[ of line 2 is open/],
  ['{"name": "A"}\n{"name": "B"}\n', '2:1', /each agent has a document of its own/],
  ['{\n\u00a0 "name": "A"\n}\n', '2:1', /Remove this invisible character/],
  ['{\n<<<<<<< HEAD\n  "name": "A"\n}\n', '2:1', /Resolve this Git conflict/],
  ['name: A\n', '1:1', /looks like YAML or Markdown: name the file .yaml/],
  ['<!doctype html>\n', '1:1', /HTML or XML/],
]

it('explains each mistake in YAML and JSON at its place, and what to write there', async () => {
  for (const [extension, rows] of Object.entries({ yaml: yamlRows, json: jsonRows })) {
    const found = await lint(Object.fromEntries(rows.map(([text], index) => [`cards/${index}.${extension}`, text])))
    for (const [index, [text, at, message]] of rows.entries()) {
      expect.soft(found[index]?.[0], text).toMatch(new RegExp(`^${at} \\(document\\) .*${message.source}`))
      const { status, body } = await put('mistake-syntax', text)
      const inJson = `^400 This is not JSON\\. .*${message.source}.*\\(line ${at.replace(':', ', column ')}\\)`
      const inYaml = /looks like YAML .* \(sync-card converts it\) \(line 1, column 1\)/
      expect
        .soft(`${status} ${body.detail}`, `PUT: ${text}`)
        .toMatch(extension === 'yaml' ? inYaml : new RegExp(inJson))
    }
  }
})

it('explains each mistake in a document at its place in the file and at its JSON Pointer', async () => {
  const looksLikeSecret = 'sk-proj-Zq7Vt2Xw9Lm4Np6Rk8Ys3'
  const withScheme = (scheme: object, ...security: object[]) => card({ securitySchemes: { a: scheme }, security })
  const withTiers = { callers: 'issuer', jwt: { audience: 'a', tiers: { gold: { scope: 'g' } } } }
  const ID = /must be 1 to 63 lower-case letters, digits and hy/
  const ICON = /must be an http or https/
  const LOCAL = /local or private address .*: use a public/
  const MISSING = /is missing/
  const RELATIVE = /is relative: it must be absolute, such as https/
  /** `put` is the message of the host, where that differs. */
  const rows: readonly (readonly [document: unknown, at: string, message: RegExp, put?: RegExp])[] = [
    [{ ...card(), name: undefined }, '1:1 /name', MISSING],
    [{ nme: 'A', ...card(), name: undefined }, '1:1 /name', /you write "nme" for "name"/, MISSING],
    [card({ name: null }), '2:3 /name', /is missing. It has no value/, MISSING],
    [card({ name: '' }), '2:3 /name', /must not be empty/],
    [card({ name: 5 }), '2:3 /name', /must be a string/],
    [card({ name: 'A\u0007' }), '2:3 /name', /one line, without control characters/],
    [{ ...card(), description: undefined }, '1:1 /description', MISSING],
    [{ ...card(), url: undefined }, '1:1 /url', /is missing: add the agent's `url`/],
    [{}, '1:1 /url', /is missing: add the agent's `url`/],
    [[card()], '1:1 ', /must be an object: one card or manifest in each file/, /must be a JSON object/],
    [card({ url: 'weather.example.com' }), '4:3 /url', RELATIVE],
    [card({ url: '/a2a' }), '4:3 /url', RELATIVE],
    [card({ url: 'ws://weather.example.com' }), '4:3 /url', /http or https, such as https/],
    [card({ url: 'https://me:pass@a.example.com' }), '4:3 /url', /not contain a user name or pass/],
    [card({ url: 'https://<your-host>/a2a' }), '4:3 /url', /looks like a placeholder: replace it/],
    [card({ url: 'http://localhost:9000' }), '4:3 /url', LOCAL],
    [card({ url: 'https://10.0.0.1/a2a' }), '4:3 /url', LOCAL],
    [card({ url: 'http://weather.example.com' }), '4:3 /url', /is http, .*: use https/],
    [card({ url: 'https://a.example.com/agent.json' }), '4:3 /url', /is the URL of a card, .*: use/],
    [card({ version: 'one' }), '5:3 /version', /not a semantic version, such as "1.4.0"/],
    [card({ skills: { id: 'a' } }), '6:3 /skills', /must be a list/],
    [card({ skills: [null] }), '7:5 /skills/0', /must be an object/],
    [card({ skills: [skill({ tags: 'a, b' })] }), '11:7 /skills/0/tags', /must be a list of strings/],
    [card({ skills: [skill(), skill()] }), '19:7 /skills/1/id', /repeats the id .*: give each skill/],
    [card({ capabilites: {} }), '19:3 /capabilites', /not read by clients; did you mean capabilities/],
    [card({ capabilities: { streeming: true } }), '20:5 /capabilities/streeming', /mean streaming/],
    [card({ capabilities: { streaming: 'yes' } }), '20:5 /capabilities/streaming', /must be true or/],
    [card({ defaultInputModes: ['json'] }), '20:5 /defaultInputModes/0', /such as "text\/plain"/],
    [card({ protocolVersion: '9.9' }), '19:3 /protocolVersion', /is not a version of A2A, such as/],
    [card({ security: 'bearer' }), '19:3 /security', /list of requirements, such as \[\{ "bearer": \[\] \}\]/],
    [card({ security: [{ oauth: [] }] }), '21:7 /security/0/oauth', /not defined in `securitySchemes`, .*: def/],
    [withScheme({ type: 'bearer' }, { a: [] }), '20:5 /securitySchemes/a', /write \{ "type": "http"/],
    [withScheme({ type: 'openIdConnect' }), '20:5 /securitySchemes/a/openIdConnectUrl', MISSING],
    [card({ iconUrl: 'data:image/png;base64,AA==' }), '19:3 /iconUrl', ICON],
    [card({ iconUrl: `data:image/png;base64,${'A'.repeat(20_000)}` }), '19:3 /iconUrl', ICON],
    [card({ description: 'x'.repeat(20_000) }), '3:3 /description', /is 20000 characters long; at most 16384/],
    [card({ description: looksLikeSecret }), '3:3 /description', /looks like a key.*: remove it and revoke it/],
    [card({ provider: 'ACME' }), '19:3 /provider', /needs both, as in \{ "organization"/],
    [
      interfaceWith({ protocolBinding: 'SOAP' }),
      '21:7 /supportedInterfaces/0/protocolBinding',
      /\(JSONRPC, .* or GRPC\)/,
    ],
    [interfaceWith({ url: undefined }), '19:5 /supportedInterfaces/0/url', MISSING],
    [manifest({ visibilty: 'internal' }), '21:3 /visibilty', /not a known field here.* visibility/],
    [manifest({ upstream: { secrt: 'A' } }), '22:5 /upstream/secrt', /not a known field here.* secret/],
    [card({ route: 'gateway' }), '19:3 /route', /move the card under `card`/],
    [manifest({ skills: [] }), '21:3 /skills', /Fields of the card go under `card`/],
    [manifest({ visibility: 'private' }), '21:3 /visibility', /must be public or internal/],
    [manifest({ route: 'proxy' }), '21:3 /route', /must be direct, gateway or closed/],
    [manifest({ callers: 'everyone' }), '21:3 /callers', /must be anyone, tokens or issuer/],
    [manifest({ gate: { modes: 'on' } }), '22:5 /gate/modes', /must be off, warn or enforce/],
    [manifest({ hosts: ['https://a.test'] }), '22:5 /hosts/0', /must be a host name in lower case, without scheme/],
    [manifest({ hosts: 'a.example.com' }), '21:3 /hosts', /must be a list of host names/],
    [manifest({ set: 'Team One' }), '21:3 /set', ID],
    [manifest({ id: 'Weather Agent' }), '21:3 /id', ID],
    [manifest({ id: 5 }), '21:3 /id', /must be a string/],
    [manifest({ upstream: { secret: looksLikeSecret } }), '22:5 /upstream/secret', /the name of a Worker secret/],
    [manifest({ upstream: 'https://a.test' }), '21:3 /upstream', /an object with url, card, mcp, service or secret/],
    [manifest(withTiers), '25:7 /jwt/tiers/gold', /add it to `tiers`/],
    [manifest({ callers: 'issuer', route: 'gateway' }), '21:3 /callers', /needs `jwt.audience`/],
    [
      manifest({ route: 'gateway', card: card({ description: 'At weather.example.com' }) }),
      '4:5 /card/description',
      /contains the agent's own address.*: remove it/,
    ],
  ]
  const files = rows.map(([document], index) => [`cards/mistake-${index}.json`, document] as const)
  const found = await lint(Object.fromEntries(files))
  for (const [index, [document, at, message, putMessage = message]] of rows.entries()) {
    const [place = '', pointer = ''] = at.split(' ')
    const line = new RegExp(`^${place} ${pointer || '\\(document\\)'} .*${message.source}`)
    const what = `${at} ${message.source}`
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

it('explains each mistake in files', async () => {
  const one = { 'cards/mistake-one.json': card() }
  const claims = (...hosts: string[]) => ({ card: card(), hosts })
  const bytes = (text: string, encoding: BufferEncoding) => Buffer.from(text, encoding)
  const withDefaults = (text: string) => ({ ...one, 'cards/defaults.yaml': text })
  type Row = readonly [files: Record<string, unknown>, output: RegExp, code?: number, file?: string]
  const rows: readonly Row[] = [
    [{}, /There is no folder cards here. Create one: npx sync-card init/, 2],
    [{ 'cards/README.md': '' }, /cards has no cards. Create one: npx sync-card init/, 2],
    [one, /cards\/mistake-on.json does not exist. Did you mean "cards\/mistake-one.json"/, 2, 'cards/mistake-on.json'],
    [one, /unknown option '--dryrun'\s+\(Did you mean --dry-run\?\)/, 2, '--dryrun'],
    [{ 'cards/a.yaml': '' }, /a.yaml:1:1 error \(document\) The file is empty; expected a card or a manifest/],
    [{ 'cards/a.yaml': bytes('name: A', 'utf16le') }, /a.yaml:1:1 error .* has NUL characters, as UTF-16 does: save/],
    [{ 'cards/a.yaml': bytes('name: Gr\xfc\xdfe', 'latin1') }, /a.yaml:1:9 error .* is not UTF-8: .* 0xFC .*; save/],
    [{ 'a.toml': 'name = "A"' }, /a.toml:1:1 error .* must be an object: one card or manifest in each/, 3, 'a.toml'],
    [{ 'cards/My Agent.json': card() }, /1:1 error \/id .* name the file my-agent.json, or write `id: my-agent`/],
    [{ 'cards/a.json': card({ icon: 'x'.repeat(300_000) }) }, /a.json:1:1 error .* the limit is 262144: link to icons/],
    [
      { 'cards/a.json': card(), 'cards/b.json': { card: card(), id: 'a' } },
      /a.json:1:1 error \/id "a" is also the id of cards\/b.json: change/,
    ],
    [
      { 'cards/mistake-a.json': claims('one.test'), 'cards/mistake-b.json': claims('two.test', 'one.test') },
      /mistake-b.json:23:5 error \/hosts\/1 "one.test" is also a host name of cards\/mistake-a.json: change/,
    ],
    [
      { 'cards/mistake-c.json': claims('taken.mistake.test') },
      /mistake-c.json:21:3 error \/hosts has "taken.mistake.test", which belongs to agent "mistake-owner"/,
    ],
    [withDefaults('hosts: [a.test]'), /defaults.yaml:1:1 error \/hosts .* cannot be inherited: write it into/],
    [withDefaults('visibilty: internal'), /defaults.yaml:1:1 error \/visibilty .* Did you mean "visibility"/],
    [withDefaults('- a'), /defaults.yaml:1:1 error .* must be an object, such as `set: my-team`/],
    [{ 'cards/agents.json': { weather: 'https://w.test' } }, /agents.json:2:3 error \/weather must be an object/],
    [{ 'cards/agents.json': { weather: {} } }, /agents.json:2:3 error \/weather\/url must be the URL where/],
    [{ 'cards/a.md': 'name: A' }, /a.md:1:1 error .* write the card between two lines of ---/],
    [{ 'cards/a.md': '---\nname: A' }, /a.md:1:1 error .* its closing line of --- is missing/],
    [
      { 'cards/mistake-d.json': card({ url: 'https://a.test/agent.json' }) },
      /not sent {2}mistake-d .* --force\n.*mistake-d.json:4:3 error \/url/,
    ],
    [
      { 'cards/mistake-e.json': manifest({ route: 'gateway', upstream: { secret: 'NO_SUCH' } }) },
      /mistake-e.json:23:5 warning \/upstream\/secret .* Run `npx wrangler secret put NO_SUCH`/,
      0,
    ],
  ]
  await put('mistake-owner', JSON.stringify(claims('taken.mistake.test')))
  registered.push('mistake-e')
  for (const [files, output, code = 3, named = ''] of rows) {
    const ended = await new Workspace(files).run(['--retries', '0', named].filter(Boolean), admin)
    expect.soft(ended.stdout + ended.stderr, output.source).toMatch(output)
    expect.soft(ended.code, output.source).toBe(code)
  }
})

it('explains each mistake with tokens and hosts', async () => {
  const issue = (scope: string, agents = ['*']) => host.issue({ scopes: [scope], agents })
  const [reader, other, revoked] = [await issue('read'), await issue('write', ['other-*']), await issue('write')]
  await host.fetch(`/tokens/${revoked.id}`, { method: 'DELETE', headers })
  const { origin, host: address } = host.url
  /** A token, or the URL of a host, and what is reported. */
  const rows: readonly (readonly [token: string, url: string, output: RegExp, code: number])[] = [
    ['', origin, /no token for http:.* set SYNC_CARD_URL=http:\S+ and SYNC_CARD_TOKEN in the environment/, 2],
    [`Bearer ${token}`, origin, /no token can have \(SYNC_CARD_TOKEN in the environment\): leave out .* Bearer/, 2],
    [`"${token}"`, origin, /no token can have \(SYNC_CARD_TOKEN in the environment\): leave out quotes/, 2],
    ['wrong', origin, /\(401\), which is wrong, expired or revoked: SYNC_CARD_TOKEN in the environment/, 4],
    [revoked.token, origin, /rejects the token \(401\), which is wrong, expired or revoked/, 4],
    [reader.token, origin, /forbidden mistake-one .* lacks the scope `write`: use one that has it/, 4],
    [other.token, origin, /forbidden mistake-one .* not cover agent "mistake-one": use a token that does/, 4],
    [token, address, /SYNC_CARD_URL in the environment: "\S+" is not the URL of a host. Use one such as https:/, 2],
    [token, `${origin}/agents`, /\/agents is not a Calling Card host: .*; try http:\S+, without a path/, 4],
    [token, 'http://127.0.0.1:6000', /port 6000 is blocked by fetch and browsers: use another/, 4],
    [token, origin.replace('http:', 'https:'), /use http:\/\/127/, 4],
    [token, await findDeadUrl(), /refused/i, 4],
    [token, 'http://no-such-host.invalid', /no-such-host\.invalid/, 4],
  ]
  const workspace = new Workspace({ 'cards/mistake-one.json': card() })
  for (const [SYNC_CARD_TOKEN, SYNC_CARD_URL, output, code] of rows) {
    const ended = await workspace.run(['--retries', '0'], { SYNC_CARD_TOKEN, SYNC_CARD_URL })
    expect.soft(ended.stdout + ended.stderr, output.source).toMatch(output)
    expect.soft(ended.code, output.source).toBe(code)
  }
  const unknown = await workspace.run(['--prune', '--yes'], admin)
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringMatching(/has none. Write `set: my-cards`/)])
})

it('explains each mistake in a request, and which one to send', async () => {
  const body = JSON.stringify(card())
  const [agent, owned] = ['PUT /agents/mistake-new', 'PUT /agents/mistake-owned']
  type Row = readonly [
    request: string,
    response: RegExp,
    more?: { headers?: Record<string, string>; body?: string | Buffer },
  ]
  const withToken = (Authorization: string) => ({ headers: { Authorization } })
  const withOtherId = JSON.stringify(manifest({ id: 'other' }))
  const huge = JSON.stringify(card({ icon: 'x'.repeat(300_000) }))
  const withType = (type: string) => ({ headers: { 'Content-Type': type }, body: 'name: A' })
  const rows: readonly Row[] = [
    ['POST /agents/mistake-new', /^200 .*This is a card, not a call. To register it, send PUT \/agents\/\{id\}/],
    ['POST /agents/mistake-new', /^200 .*To register it, send PUT/, { body: JSON.stringify(manifest({})) }],
    ['POST /agents', /^405 .*supports GET, HEAD, OPTIONS, not POST. To register an agent, send its card/],
    ['PUT /agents/', /^405 .*send its card with PUT \/agents\/\{id\}/],
    [`${agent}/.well-known/agent-card.json`, /^405 .*send its card with PUT \/agents\/\{id\}/],
    ['PUT /.well-known/agent-card.json', /^405 .*send its card with PUT \/agents\/\{id\}/],
    ['PATCH /agents/mistake-new', /^405 .*not PATCH. To register an agent, send its card with PUT/],
    ['PUT /api/agents/mistake-new', /^404 .*No such endpoint. .* PUT \/agents\/\{id\} registers one/],
    ['PUT /agents/Mistake', /^400 .*"Mistake" is not a valid agent id: use 1 to 63 lower-case letters/],
    [agent, /^422 .*\/id is "other", but .* "mistake-new": use one id/, { body: withOtherId }],
    [agent, /^415 .*Send JSON, with `Content-Type: .* sync-card converts YAML/, withType('application/yaml')],
    [agent, /^415 .*Send JSON, with `Content-Type: application\/json`/, withType('application/x-www-form-urlencoded')],
    [agent, /^400 .*body is empty; expected a card or a manifest as JSON/, { body: '' }],
    [agent, /^400 .*not UTF-8 text, .*: the byte 0xFF at offset 0/, { body: Buffer.from('\ufeff{}', 'utf16le') }],
    [agent, /^413 .*larger than 256 KiB. A card links to icons/, { body: huge }],
    [agent, /^422 .*\/name is in its object twice, .* in line 2: remove/, { body: '{"name":"A",\n"name":"B"}' }],
    [agent, /^401 .*This needs a token: send `Authorization: Bearer <token>`/, withToken('')],
    [agent, /^401 .*was not sent as `Authorization: Bearer <token>`/, withToken(token)],
    [agent, /^401 .*send one Authorization header with one bearer token/, withToken(`Bearer Bearer ${token}`)],
    [agent, /^401 .*unknown, expired or revoked, or was not sent as/, withToken(`Bearer "${token}"`)],
    [owned, /^412 .*exists already. To replace it, send If-Match with/, { headers: { 'If-None-Match': '*' } }],
    [owned, /^412 .*has changed since you read it. Read it again \(GET/, { headers: { 'If-Match': '"old"' } }],
    ['DELETE /agents/mistake-new', /^404 .*No agent "mistake-new" exists here. GET \/agents lists agents/],
  ]
  await put('mistake-owned', body)
  for (const [request, expected, more] of rows) {
    const [method = '', path = ''] = request.split(' ')
    const sent = { method, headers: { ...headers, ...more?.headers }, body: more?.body ?? body }
    const response = await host.fetch(path, sent)
    const text = `${response.status} ${await response.text()}`.replaceAll('\\"', '"')
    expect.soft(text, `${request}: ${expected.source}`).toMatch(expected)
  }
})

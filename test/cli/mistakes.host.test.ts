import { expect, it } from 'vitest'
import { sharedHost, token } from '../support/host.ts'
import { Workspace } from './workspace.ts'

// What owners write and do wrong: a message names mistake, place and fix.

const host = sharedHost()

const skill = {
  ...{ id: 'forecast', name: 'Forecast', description: 'Returns the weather forecast of a place for a date' },
  ...{ tags: ['weather'], examples: ['Will it rain in Berlin?'] },
}
const card = (more: object = {}) => ({
  ...{ name: 'Weather', description: 'Forecasts the weather of any place', url: 'https://weather.example.com/a2a' },
  ...{ version: '1.0.0', skills: [skill], ...more },
})
const manifest = (more: object) => ({ card: card(), ...more })

/** Lints files with one command, and returns the lines about each: the place, the JSON Pointer and the message. */
const lint = async (files: Record<string, unknown>): Promise<string[][]> => {
  const { stdout } = await new Workspace(files).run(['lint'])
  const lines = [...stdout.matchAll(/^ {2}(\S+?):(\d+:\d+) (?:error|warning|info) (.*)$/gm)]
  return Object.keys(files).map(file => lines.flatMap(([, name, at, text]) => (name === file ? [`${at} ${text}`] : [])))
}

/** A text, where its mistake is, and the message. */
type SyntaxRow = [text: string, at: string, message: RegExp]

const QUOTES = /double quotes, as in "name": "Weather"/

const yamlRows: SyntaxRow[] = [
  ['name: A\ndescription: Weather: forecasts\n', '2:21', /needs quotes: description: "Weather: fo/],
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
  ['name: *bold* text\n', '1:7', /begins with this character needs quotes/],
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
  ['{\n  "name": "A",,\n  "url": "x"\n}\n', '2:15', /Remove this comma/],
  ['{\n  "name": "A"\n  "url": "x"\n}\n', '3:3', /Write a comma before this/],
  ['{\n  "name" "A"\n}\n', '2:10', /Write a colon before this, as in "name": "Weather"/],
  ["{\n  'name': 'A'\n}\n", '2:3', QUOTES],
  ['{\n  "name": Weather\n}\n', '2:11', QUOTES],
  ['{\n  // The name\n  "name": "A"\n}\n', '2:3', /Remove this comment: JSON has none/],
  ['{\n  "version": NaN\n}\n', '2:14', /Write null or a number/],
  ['{\n  "streaming": True\n}\n', '2:16', /true, false or null, in lowercase letters/],
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
    for (const [index, [text, at, message]] of rows.entries())
      expect.soft(found[index]?.[0], text).toMatch(new RegExp(`^${at} \\(document\\) .*${message.source}`))
  }
})

it('explains each mistake in a document at its place in the file and at its JSON Pointer', async () => {
  const { url, ...withoutUrl } = card() as Record<string, unknown>
  const supportedInterfaces = [{ url, protocolBinding: 'SOAP', protocolVersion: '1.0' }]
  const rows: readonly (readonly [document: unknown, at: string, message: RegExp])[] = [
    [{ nme: 'A', ...card(), name: undefined }, '1:1 /name', /you write "nme" for "name"/],
    [card({ name: null }), '2:3 /name', /is missing. It has no value/],
    [[card()], '1:1 ', /must be an object: one card or manifest in each file/],
    [card({ url: 'https://a.example.com/agent.json' }), '4:3 /url', /is the URL of a card, .*: use/],
    [card({ version: 'one' }), '5:3 /version', /not a semantic version, such as "1.4.0"/],
    [card({ skills: [{ ...skill, tags: 'a, b' }] }), '11:7 /skills/0/tags', /must be a list of strings/],
    [card({ capabilites: {} }), '19:3 /capabilites', /not read by clients; did you mean capabilities/],
    [card({ defaultInputModes: ['json'] }), '20:5 /defaultInputModes/0', /such as "text\/plain"/],
    [card({ protocolVersion: '9.9' }), '19:3 /protocolVersion', /is not a version of A2A, such as/],
    [card({ security: [{ oauth: [] }] }), '21:7 /security/0/oauth', /not defined in `securitySchemes`, .*: def/],
    [card({ description: 'sk-proj-Zq7Vt2Xw9Lm4Np6Rk8Ys3' }), '3:3 /description', /a key.*: remove it and revoke it/],
    [card({ provider: 'ACME' }), '19:3 /provider', /needs both, as in \{ "organization"/],
    [{ ...withoutUrl, supportedInterfaces }, '21:7 /supportedInterfaces/0/protocolBinding', /\(JSONRPC, .* or GRPC\)/],
    [manifest({ hosts: 'a.example.com' }), '21:3 /hosts', /must be a list of host names/],
    [manifest({ set: 'Team One' }), '21:3 /set', /must be 1 to 63 lowercase letters, digits and hy/],
    [manifest({ upstream: 'https://a.test' }), '21:3 /upstream', /an object with url, card, mcp, service or secret/],
  ]
  const found = await lint(Object.fromEntries(rows.map(([document], index) => [`cards/row-${index}.json`, document])))
  for (const [index, [, at, message]] of rows.entries()) {
    const [place = '', pointer = ''] = at.split(' ')
    const line = new RegExp(`^${place} ${pointer || '\\(document\\)'} .*${message.source}`)
    expect.soft(found[index], `${at} ${message.source}`).toContainEqual(expect.stringMatching(line))
  }
})

it('explains each mistake in files', async () => {
  const one = { 'cards/one.json': card() }
  const claims = (...hosts: string[]) => ({ card: card(), hosts })
  const rows: readonly (readonly [files: Record<string, unknown>, output: RegExp])[] = [
    [{ 'cards/a.yaml': '' }, /a.yaml:1:1 error \(document\) The file is empty; expected a card or a manifest/],
    [
      { 'cards/a.yaml': Buffer.from('name: A', 'utf16le') },
      /a.yaml:1:1 error .* has NUL characters, as UTF-16 does: save/,
    ],
    [
      { 'cards/a.json': claims('one.test'), 'cards/b.json': claims('two.test', 'one.test') },
      /b.json:23:5 error \/hosts\/1 "one.test" is also a host name of cards\/a.json: change/,
    ],
    [{ ...one, 'cards/defaults.yaml': '- a' }, /defaults.yaml:1:1 error .* must be an object, such as `set: my-team`/],
    [{ 'cards/a.md': 'name: A' }, /a.md:1:1 error .* write the card between two lines of ---/],
  ]
  for (const [files, output] of rows) {
    const { code, stdout } = await new Workspace(files).run(['lint'])
    expect.soft([code, stdout], output.source).toEqual([3, expect.stringMatching(output)])
  }
})

it('explains a token that the host does not accept', async () => {
  const workspace = new Workspace({ 'cards/mistake.json': card() })
  const { token: other } = await host.issue({ scopes: ['write'], agents: ['other-*'] })
  const rows: readonly (readonly [token: string, output: RegExp, code: number])[] = [
    [other, /forbidden mistake .* not cover agent "mistake": use a token that does/, 4],
    [`Bearer ${token}`, /\(SYNC_CARD_TOKEN in the environment\): leave out quotes, spaces and the word/, 2],
    [`"${token}"`, /no token can have/, 2],
  ]
  for (const [SYNC_CARD_TOKEN, output, code] of rows) {
    const ended = await workspace.run([], { SYNC_CARD_URL: host.url.origin, SYNC_CARD_TOKEN })
    expect.soft([ended.code, ended.stdout + ended.stderr]).toEqual([code, expect.stringMatching(output)])
  }
})

it('explains a request with a wrong path, method or token, and which one to send', async () => {
  const agent = 'PUT /agents/mistake-new'
  const rows: readonly (readonly [request: string, response: RegExp, authorization?: string])[] = [
    ['POST /agents', /^405 .*supports GET, HEAD, OPTIONS, not POST. To register an agent, send its card/],
    ['PUT /.well-known/agent-card.json', /^405 .*send its card with PUT \/agents\/\{id\}/],
    ['PUT /health', /^405 .*supports GET, HEAD, OPTIONS, not PUT."/],
    ['PUT /agents/Mistake', /^400 .*"Mistake" is not a valid agent id: use 1 to 63 lowercase letters/],
    [agent, /^401 .*This needs a token: send `Authorization: Bearer <token>`/, ''],
    [agent, /^401 .*was not sent as `Authorization: Bearer <token>`/, token],
    [agent, /^401 .*send one Authorization header with one bearer token/, `Bearer Bearer ${token}`],
    [agent, /^401 .*unknown, expired or revoked, or was not sent as/, `Bearer "${token}"`],
    ['DELETE /agents/mistake-new', /^404 .*No agent "mistake-new" exists here. GET \/agents lists agents/],
  ]
  for (const [request, expected, Authorization = `Bearer ${token}`] of rows) {
    const [method = '', path = ''] = request.split(' ')
    const headers = { Authorization, 'Content-Type': 'application/json' }
    const body = method === 'DELETE' ? null : JSON.stringify(card())
    const response = await host.fetch(path, { method, headers, body })
    const text = `${response.status} ${await response.text()}`.replaceAll('\\"', '"')
    expect.soft(text, `${request}: ${expected.source}`).toMatch(expected)
  }
})

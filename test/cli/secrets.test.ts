import { describe, expect, it } from 'vitest'
import { card, containing, useFakeHost, Workspace } from './workspace.ts'

const TOKEN = 'sk-proj-Zq7Vt2Xw9Lm4Np6Rk8Ys3'
const PASSWORD = 'Hunter2Zq7Vt'

/** The beginnings of the secrets are secret too. */
const LEAKS = /sk-proj-Zq|Hunter2/

const { host, run } = useFakeHost()

const manifest = (more: object, cardMore: object = {}) => ({ ...more, card: card('a', cardMore) })
const skill = { id: 'ask', name: 'Ask', description: 'Answers questions', tags: ['a'], examples: ['Why?'] }

/** Files with a secret in one place each. */
const leaky: Record<string, unknown> = {
  'description.json': card('a', { description: `Call me with ${TOKEN}` }),
  'url.json': card('a', { url: `https://me:${PASSWORD}@a.example.com` }),
  'wrong-type.json': card('a', { skills: TOKEN, capabilities: TOKEN }),
  'password.json': card('a', { password: PASSWORD, securitySchemes: { key: { type: TOKEN, secret: PASSWORD } } }),
  'remote.yaml': JSON.stringify({
    upstream: { card: `https://a.example.com/card?key=${TOKEN}` },
    card: { description: TOKEN },
  }),
  'route.json': manifest({ route: TOKEN }),
  'unknown.json': manifest({ password: PASSWORD }),
  'id.json': manifest({ id: TOKEN }),
  'allowed.json': manifest({ allowSecrets: [TOKEN] }),
  'exposed.md': `---\nname: A\ndescription: ${TOKEN}\nurl: https://a.example.com\nexposed: ${TOKEN}\nmodel: gpt\n---\n`,
  'front-matter.md': `---\nname: A\ndescription: ${TOKEN}\nurl: https://a.example.com\nagentcard:\n  skills: ${TOKEN}\n---\n`,
  'syntax1.json': `{ "name": ${TOKEN} }`,
  'syntax2.json': `{ "name": "A", "password": ${PASSWORD} }`,
  'syntax3.json': `{ "name": "A" "${TOKEN}" }`,
  'syntax4.json': `{ "name": "A", "token": "${TOKEN}\n" }`,
  'syntax1.yaml': `name: A\npassword: *${PASSWORD}\n`,
  'syntax2.yaml': `name: A\npassword: @${PASSWORD}\n`,
  'syntax3.yaml': `name: A\n  password: ${PASSWORD}: x\n`,
  'syntax7.yaml': `${TOKEN}\n`,
  'syntax8.yaml': `name: !${TOKEN} {}\npassword: "\\${PASSWORD}"\n`,
  'twice.json': `{ "password": "${PASSWORD}", "password": "${PASSWORD}" }`,
  'twice.yaml': `name: ${TOKEN}\nname: ${TOKEN}\n`,
  'agents.json': { Partner: { url: 'https://p.example.com', agentCard: { description: TOKEN }, password: PASSWORD } },
}

const COMMANDS = [
  ...['lint', 'lint --format json', 'lint --format sarif', 'convert cards --to 0.3 --out out', 'diff', 'diff --json'],
  ...['diff --format markdown', '--dry-run', '--check --json', '--json', ''],
]

describe('a secret in a file', () => {
  it('is repeated by no output', async () => {
    const files = Object.entries(leaky).map(([name, content]) => [`cards/${name}`, content])
    const workspace = new Workspace(Object.fromEntries(files))
    for (const args of COMMANDS) {
      const { code, stdout, stderr, writes } = await run(workspace, args)
      expect(`${stdout}${stderr}`.split('\n').filter(line => LEAKS.test(line))).toEqual([])
      expect([args, code, writes]).toEqual([args, 3, []])
    }
  })

  it('is repeated by no output if it is in the defaults', async () => {
    const description = `Call me with ${TOKEN}`
    for (const defaults of [{ card: { description, password: PASSWORD } }, { description }, `card: *${PASSWORD}\n`]) {
      const file = manifest({}, { description: undefined })
      const workspace = new Workspace({ 'cards/a.json': file, 'cards/defaults.yaml': defaults })
      for (const args of COMMANDS) {
        const { code, stdout, stderr } = await run(workspace, args)
        expect(`${stdout}${stderr}`, args).not.toMatch(LEAKS)
        expect([args, code]).toEqual([args, 3])
      }
    }
  })

  it('is repeated by no difference if a host has stored it before', async () => {
    const codes = {
      ...{ '--dry-run': 1, diff: 1, 'diff --format markdown': 1, 'diff --json': 1, 'pull a': 1 },
      ...{ 'pull a --force --json': 0, '--json': 0, '': 0 },
    }
    const skills = [{ ...skill, description: `Call me with ${TOKEN}` }]
    for (const [args, code] of Object.entries(codes)) {
      host.register('a', manifest({ extended: { token: TOKEN } }, { skills, password: PASSWORD }))
      const ended = await run({ 'cards/a.json': card('a') }, args)
      expect(`${ended.stdout}${ended.stderr}`).not.toMatch(LEAKS)
      const shown = args.includes('--json') ? '"path":"/card/password"' : '[secret]'
      expect(ended, args).toMatchObject({ code, stdout: containing(shown) })
    }
  })

  it('is not repeated after somebody else has registered it meanwhile', async () => {
    host.register('a', { card: card('a') })
    host.faults.push(({ method }) => {
      if (method === 'PUT') host.register('a', manifest({}, { password: PASSWORD }))
      return false
    })
    const { code, stdout } = await run({ 'cards/a.json': card('a', { version: '2.0.0' }) }, '')
    expect(stdout).toMatch(/changed meanwhile/)
    expect(stdout).toContain('/password "[secret]"')
    expect(stdout).not.toMatch(LEAKS)
    expect(code).toBe(3)
  })
})

describe('sync-card --allow-secret', () => {
  it('adds its places to `allowSecrets` of the manifests that need them', async () => {
    const workspace = new Workspace({
      'cards/a.json': card('a', { description: `Explains ${TOKEN}` }),
      'cards/b.json': manifest({ allowSecrets: ['/card/version'] }, { description: TOKEN, version: TOKEN }),
      'cards/c.json': card('c'),
      'cards/d.json': card('d', { version: TOKEN }),
    })
    const args = '--allow-secret /description --allow-secret /card/description'
    const { code, stdout } = await run(workspace, args)
    const sent = [...host.agents].map(([id, agent]) => [
      id,
      (agent.manifest as { allowSecrets?: string[] }).allowSecrets,
    ])
    expect(Object.fromEntries(sent)).toEqual({
      ...{ a: ['/card/description'], b: ['/card/version', '/card/description'], c: undefined },
    })
    expect(stdout).toMatch(/d\.json:\d+:3 error \/version looks like a key.*or run with --allow-secret \/card\/version/)
    expect(code).toBe(3)
    expect((await run(workspace, `--check --json ${args}`)).stdout).not.toContain('"patch"')
  })

  it('rejects what is no JSON Pointer (exit 2)', async () => {
    const stderr = containing('It must be a JSON Pointer such as /card/description.')
    expect(await run({ 'cards/c.json': card('c') }, '--allow-secret description')).toMatchObject({ code: 2, stderr })
  })
})

import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createContext, type Environment } from '../../cli/context.ts'
import { deploy } from '../../cli/deploy/deployment.ts'
import { createWrangler } from '../../cli/deploy/wrangler.ts'
import { card, matching, readFrom, useFakeHost, Workspace, waitForEnd, waitForText } from './workspace.ts'

const { host } = useFakeHost()

/** Does what wrangler does to its surroundings: reads the secrets, writes the output file, lists and stores secrets. */
const fakeWrangler = `#!${process.execPath}
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
const file = args[args.indexOf('--secrets-file') + 1]
const secrets = args.includes('--secrets-file') ? JSON.parse(readFileSync(file, 'utf8')) : undefined
appendFileSync('calls.ndjson', JSON.stringify({ args, secrets, pid: process.pid }) + '\\n')
if (process.env.FAILURE) {
  writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, JSON.stringify({ type: 'command-failed', version: 1, message: process.env.FAILURE }) + '\\n')
  process.exit(1)
}
if (process.env.WAIT) setInterval(() => {}, 1000), console.log('waiting')
else if (args[0] === 'deploy') writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, [{ type: 'wrangler-session' }, { type: 'deploy', targets: [process.env.TARGET] }].map(entry => JSON.stringify(entry) + '\\n').join(''))
`

/** Returns a folder with wrangler, the variables that name it, and the calls that it got. */
const prepare = (files: Record<string, unknown>, more: Environment = {}) => {
  const folder = new Workspace({ 'cards/a.json': card('a'), 'bin/wrangler': fakeWrangler, ...files })
  chmodSync(join(folder.folder, 'bin/wrangler'), 0o755)
  const env = { PATH: join(folder.folder, 'bin'), TARGET: host.url, ...more }
  const calls = () =>
    (readFrom(folder, 'calls.ndjson') ?? '').split('\n').flatMap(line => (line ? JSON.parse(line) : []))
  return { folder, env, calls }
}

const start = (files: Record<string, unknown>, args: string[], more: Environment = {}) => {
  const { folder, env, calls } = prepare(files, more)
  const child = folder.spawn('deploy.ts', args, env)
  return { calls, child, ended: waitForEnd(child) }
}

describe('npm run deploy', () => {
  it('runs wrangler with its arguments, no variable of .env, and a secrets file that is deleted afterwards', async () => {
    const variables = 'NODE_OPTIONS=--require=./hostile.cjs\nPATH=hostile\nWAIT=1\n'
    const files = { '.env': variables, '.env.staging': `${variables}ADMIN_TOKEN=${host.token}` }
    const { calls, ended } = start(files, ['--env', 'staging'])
    expect(await ended).toMatchObject({ code: 0, stdout: matching(/\+ created {3}a .*live/) })
    const [{ args, secrets }, ...others] = calls()
    expect(args).toEqual(['deploy', '--secrets-file', expect.any(String), '--env', 'staging'])
    expect({ secrets, others }).toEqual({ secrets: { ADMIN_TOKEN: host.token }, others: [] })
    expect(existsSync(args[2])).toBe(false)
  })

  it('recognizes that wrangler has no account', async () => {
    const FAILURE =
      "In a non-interactive environment, it's necessary to set a CLOUDFLARE_API_TOKEN environment variable"
    const { folder, env } = prepare({ '.env': `ADMIN_TOKEN=${host.token}` }, { FAILURE })
    const { io, output } = folder.io(env)
    expect(await deploy([], createContext(io, 'npm run deploy'), createWrangler(folder.folder, env))).toBe(1)
    expect(output().stderr).toContain('Run `npx wrangler login`')
  })

  it('passes on SIGTERM to wrangler, survives Ctrl-C until wrangler has ended, and leaves no secrets behind', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const { calls, child, ended } = start({ '.env': `ADMIN_TOKEN=${host.token}` }, [], { WAIT: '1' })
      await waitForText(child.stdout, 'waiting')
      child.kill(signal)
      if (signal === 'SIGINT') process.kill(calls()[0].pid, signal)
      const { code } = await ended
      expect(existsSync(calls()[0].args[2])).toBe(false)
      expect({ code, requests: host.seen }, signal).toEqual({ code: 1, requests: [] })
    }
  })
})

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { parseEnv } from 'node:util'
import { run } from '../../cli/cli.ts'
import { createContext, type Environment, type Io } from '../../cli/context.ts'
import { welcome } from '../../cli/dev/welcome.ts'
import { claimFile, startedFile } from '../../cli/hosts/index.ts'
import { compileCache } from '../cli/workspace.ts'
import { findFreePorts } from '../support/free-ports.ts'
import { startHost } from '../support/host.ts'
import { makeSigningKey } from '../support/signing-key.ts'
import type { Step } from './page.ts'

/** The ports of the host and of the agent in the text of pages, which are replaced. */
const HOST_PORT = '8787'
const AGENT_PORT = '9000'
const AGENT = 'examples/stock-agent.mjs'

/** The exit code of a shell for a command that does not exist. */
const COMMAND_NOT_FOUND = 127

/** The admin token of the host, in the form that `npm start` makes. */
const token = randomBytes(32).toString('hex')

/** Does what pages say. */
export type Reader = {
  /** Does the steps of a page. Returns what the commands of a line have printed, and those that failed by surprise. */
  read: (page: string) => Promise<{ printed: (line: number) => string; failed: string }>
  close: () => Promise<void>
}

/**
 * Starts a host with the samples and with what all pages write into `.dev.vars`, and returns a reader. Each page has a
 * clone of its own, but pages share the host: the ids of their agents must differ.
 */
export const startReader = async (pages: Record<string, readonly Step[]>): Promise<Reader> => {
  const folder = mkdtempSync(join(tmpdir(), 'calling-card-docs-'))
  const names = Object.keys(pages)
  const ports = await findFreePorts(names.length)
  const agentPorts = Object.fromEntries(names.map((name, index) => [name, String(ports[index])]))
  const written = names.flatMap(name => {
    const files = pages[name]?.flatMap(step => ('path' in step && step.path === '.dev.vars' ? [step.text] : [])) ?? []
    return Object.entries(parseEnv(files.join('').replaceAll(AGENT_PORT, agentPorts[name] ?? '')))
  })
  const vars = [...Map.groupBy(written, ([variable]) => variable)].map(([variable, entries]) => [
    variable,
    entries.map(([, value]) => value).join(' '),
  ])
  const secrets = {
    ADMIN_TOKEN: token,
    SIGNING_KEY: JSON.stringify(makeSigningKey()),
    LOCAL_ORIGINS: 'http://localhost',
  }
  const host = await startHost(
    { ...secrets, ...Object.fromEntries(vars) },
    { assets: true, examples: ['echo-agent', 'mcp-server'] },
  )
  const { origin: url, port } = host.url
  const discarded = new PassThrough().resume()
  const stdin = Readable.from([])
  await showWelcome({ cwd: process.cwd(), env: { PORT: port }, stdin, stdout: discarded, stderr: discarded })
  const server = createServer(async (request, response) => {
    response.end(String(await runHere(await text(request))))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const commandServer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    read: async name => {
      const replaced = [[HOST_PORT, port] as const, [AGENT_PORT, agentPorts[name] ?? ''] as const]
      const localize = (text: string) => replaced.reduce((all, [shown, actual]) => all.replaceAll(shown, actual), text)
      const clone = join(folder, name, 'clone')
      const output = join(folder, name, 'output')
      mkdirSync(output, { recursive: true })
      copyClone(clone)
      writeFileSync(join(clone, AGENT), localize(readFileSync(AGENT, 'utf8')))
      claimFile(join(clone, startedFile(port)), { pid: process.pid, url, token })
      writeFileSync(join(output, '.curlrc'), 'silent\nshow-error\n')
      writeFileSync(join(output, 'script'), localize(writeScript(pages[name] ?? [])))
      const env = {
        ...{ PATH: process.env.PATH, HOME: output, PORT: port, NO_COLOR: '1', TOKEN: token },
        ...{ OUTPUT: output, COMMAND_SERVER: commandServer, NODE_COMPILE_CACHE: compileCache },
      }
      const options = { cwd: clone, env: env as unknown as NodeJS.ProcessEnv }
      await new Promise(done => execFile('bash', [join(output, 'script')], options, done))
      const readOutput = (file: string): string =>
        replaced.reduce(
          (all, [shown, actual]) => all.replaceAll(actual, shown),
          readFileSync(join(output, file), 'utf8'),
        )
      return { printed: line => readOutput(String(line)), failed: readOutput('failed') }
    },
    close: async () => {
      server.close()
      await host.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Copies the part of a clone that commands read, without the samples: the host has them already. */
const copyClone = (folder: string): void => {
  for (const path of ['cards', AGENT, '.gitignore', 'package.json', 'wrangler.toml', 'action.yml'])
    cpSync(path, join(folder, path), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, '.git'))
}

/**
 * Returns the script of the steps. What the commands of a block print goes to a file with the number of its line, and
 * the commands that fail by surprise to `failed`.
 */
const writeScript = (steps: readonly Step[]): string => {
  const parts = steps.map(step =>
    'commands' in step
      ? `block=${step.line}; exec >"$OUTPUT/$block" 2>&1\n${step.commands}`
      : `mkdir -p "$(dirname ${step.path})"; cat >${step.path} <<'END_OF_FILE'\n${step.text}END_OF_FILE`,
  )
  return [PRELUDE, ...parts, ''].join('\n')
}

const PRELUDE = `
run_here() {
  local file reply; reply=$(mktemp -d "$OUTPUT/reply-XXXXXX")
  { printf '%s\\0' "$PWD" "$reply" "$#" "$@"; env -0; } | curl --data-binary @- "$COMMAND_SERVER" >"$reply/code"
  for file in $(ls "$reply"); do
    case $file in *.stdout) cat "$reply/$file";; *.stderr) cat "$reply/$file" >&2;; esac
  done
  local code; code=$(cat "$reply/code")
  # Recorded here, because bash ignores the exit code of a command in export X=$(…) or echo "$(…)".
  [[ $code == $expected ]] || echo "exit code $code in the block at line $block: $*" >&3
  return "$code"
}
npx() { run_here npx "$@"; }
npm() { run_here npm "$@"; }
wait_for_agent() {
  until (exec 3<>/dev/tcp/127.0.0.1/${AGENT_PORT}) 2>/dev/null; do kill -0 $! || return; sleep 0.05; done
}
set -o pipefail
exec 3>"$OUTPUT/failed"
block=0
expected=0
trap '[[ $BASH_COMMAND == return* ]] || echo "exit code $? in the block at line $block: $BASH_COMMAND" >&3' ERR
trap 'trap - ERR; kill $(jobs -p) 2>/dev/null' EXIT`

/**
 * Runs a command of a script in this process, because a new process for each takes longer: `npx sync-card`, or the part
 * of `npm start` that begins when the host runs. Returns the exit code.
 */
const runHere = async (request: string): Promise<number> => {
  const [cwd = '', reply = '', count, ...words] = request.split('\0')
  const [command, program, ...args] = words.splice(0, Number(count))
  const env: Environment = Object.fromEntries(words.filter(Boolean).map(word => word.split(/=(.*)/s)))
  let index = 100
  const write = (name: string) =>
    new PassThrough().on('data', chunk => writeFileSync(join(reply, `${index++}.${name}`), chunk))
  const io = { cwd, env, stdin: Readable.from([]), stdout: write('stdout'), stderr: write('stderr') }
  if (command === 'npx' && program === 'sync-card') return run(args, io)
  if (program === 'start') await showWelcome(io)
  else io.stderr.write(`${command} ${program} is not run here\n`)
  return program === 'start' ? 0 : COMMAND_NOT_FOUND
}

/** Does what `npm start` does when its host runs, at the port of the environment. */
const showWelcome = async (io: Io): Promise<void> => {
  const host = { url: `http://127.0.0.1:${io.env.PORT}`, token, shellToken: token, state: '.wrangler/state' }
  await welcome(host, createContext(io, 'npm start'))
}

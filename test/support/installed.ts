import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

// What `npm run mcp` and `npm run field` share: programs from npm, outside of this project's own dependencies.

/** Creates a temporary folder, which is deleted when the process exits. */
export const createTemporaryFolder = (name: string): string => {
  const directory = mkdtempSync(join(tmpdir(), `calling-card-${name}-`))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}

/** Installs packages, such as `fastmcp@4.20.16`, into a folder. Their own scripts do not run, and peers are not installed. */
export const installPackages = async (directory: string, packages: readonly string[]): Promise<void> => {
  mkdirSync(directory, { recursive: true })
  const options = ['--silent', '--no-save', '--ignore-scripts', '--legacy-peer-deps', '--prefix', directory]
  await promisify(execFile)('npm', ['install', ...options, ...packages])
}

const listensAt = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

/** Starts a server with Node, waits until it listens at the port that it has in `PORT`, and returns the function that starts it again. */
export const startServer = async (
  args: readonly string[],
  port: number,
  env: Record<string, string> = {},
): Promise<() => Promise<void>> => {
  const begin = async () => {
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env, PORT: `${port}` }, stdio: 'ignore' })
    // Before the folder is deleted, in which it may still write.
    process.prependOnceListener('exit', () => child.kill())
    for (let tries = 0; tries < 900; tries++) {
      if (await listensAt(port)) return child
      await sleep(100)
    }
    throw new Error(`${args.join(' ')} does not listen`)
  }
  let child = await begin()
  return async () => {
    child.kill()
    await once(child, 'exit')
    child = await begin()
  }
}

/** Prints whether an answer is as expected, and remembers it for the exit code of the process. */
export const check = (title: string, line: string, expected: RegExp): void => {
  const isExpected = expected.test(line)
  if (!isExpected) process.exitCode = 1
  const shown = line.slice(0, isExpected ? 160 : 2000).replaceAll('\n', ' ')
  console.log(`${isExpected ? 'ok    ' : 'FAILED'} ${title}: ${shown}`)
}

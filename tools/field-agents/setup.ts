import { execFile } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { readHostConfig } from '../../test/support/global-setup.ts'
import { check, installPackages } from '../../test/support/installed.ts'
import { type HostOptions, main, startHostRuntime, token } from '../../test/support/runtime.ts'

/** Installs packages below `directory`, each list beside its program of `programs/`. Returns the programs' paths. */
export const installPrograms = async <Name extends string>(
  directory: string,
  packages: Record<Name, string[]>,
): Promise<Record<Name, string>> => {
  const installed = Object.entries<string[]>(packages).map(async ([name, list]) => {
    const path = join(directory, name, `${name}.mjs`)
    await installPackages(dirname(path), list)
    copyFileSync(join(import.meta.dirname, 'programs', `${name}.mjs`), path)
    return [name, path]
  })
  return Object.fromEntries(await Promise.all(installed))
}

/** Runs a program, and returns what it prints. */
export const runProgram = (path: string, args: readonly string[], seconds = 60): Promise<string> =>
  promisify(execFile)(process.execPath, [path, ...args], { cwd: dirname(path), timeout: seconds * 1000 }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => `failed: ${stdout} ${stderr}`,
  )

/** Starts a host without rate limits. Returns its URL, and functions that register an agent and close the host. */
export const startHost = async (options: HostOptions) => {
  const config = readHostConfig()
  const rateLimits = Object.fromEntries(Object.keys(config.rateLimits).map(name => [name, 1e9]))
  const { urls, close } = await startHostRuntime(config, { [main]: { ...options, rateLimits } })
  const url = urls[main]
  const register = async (id: string, manifest: object): Promise<void> => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }
    const init = { method: 'PUT', headers, body: JSON.stringify(manifest) }
    const response = await fetch(new URL(`/agents/${id}`, url), init)
    check(`${id} is registered`, `${response.status} ${await response.text()}`, /^201/)
  }
  return { url, register, close }
}

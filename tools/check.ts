import { spawn } from 'node:child_process'

/** What `npm run check` runs side by side. `npm run fix` writes what the first and the last of them check. */
const commands = [
  'biome check .',
  'tsc -b . cli src/pages/browser',
  'wrangler types src/env.d.ts --env-file .dev.vars.example --include-runtime=false --strict-vars=false --check',
]

/** Runs a command, prints its whole output when it ends, and returns whether it succeeded. */
const run = async (command: string): Promise<boolean> => {
  const child = spawn(command, { shell: true })
  const output = Promise.all([child.stdout, child.stderr].map(stream => Array.fromAsync(stream)))
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.on('close', resolve)
  const status = await promise
  process.stdout.write(`> ${command}\n${(await output).flat().join('')}`)
  return status === 0
}

const succeeded = await Promise.all(commands.map(run))
process.exitCode = succeeded.every(Boolean) ? 0 : 1

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withLocalTools } from '../local-tools.ts'

/** How `wrangler deploy` ended, and what it wrote to its output file. */
export type Deployed = { exitCode: number; output: string }

/** Runs `wrangler deploy`; with secrets by a file that nobody else can read and that is gone afterwards. */
export const wranglerDeploy = async (
  args: readonly string[],
  secrets?: Readonly<Record<string, string>>,
): Promise<Deployed> => {
  const folder = mkdtempSync(join(tmpdir(), 'calling-card-'))
  const file = join(folder, 'secrets.json')
  const output = join(folder, 'output.ndjson')
  try {
    if (secrets) writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 })
    const wrangler = spawn('wrangler', ['deploy', ...(secrets ? ['--secrets-file', file] : []), ...args], {
      stdio: 'inherit',
      env: { ...withLocalTools(process.env), WRANGLER_OUTPUT_FILE_PATH: output },
    })
    const [exitCode] = (await once(wrangler, 'exit')) as [number | null]
    return { exitCode: exitCode ?? 1, output: existsSync(output) ? readFileSync(output, 'utf8') : '' }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

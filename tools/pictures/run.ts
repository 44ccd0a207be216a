import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { executablePath } from '../../test/support/browser-path.ts'
import { readHostConfig } from '../../test/support/global-setup.ts'
import { main, startHostRuntime, token } from '../../test/support/runtime.ts'

const USAGE = `Usage: npm run pictures, after npm run build

Takes the pictures of the README, in light and dark, from a host with the sample cards. Needs Chromium, or CHROME_PATH.`

if (process.argv.length > 2 || !existsSync('out/index.js') || executablePath === undefined) {
  console.error(USAGE)
  process.exit(process.argv[2] === '--help' ? 0 : 2)
}

const root = join(import.meta.dirname, '../..')

/** The pages, and the part of each that is shown. */
const pictures = {
  catalog: { path: '/agents', width: 1200, height: 760 },
  agent: { path: '/agents/echo', width: 1200, height: 760 },
}

const host = await startHostRuntime(readHostConfig(), {
  [main]: { assets: true, examples: ['echo-agent', 'mcp-server'], vars: { PUBLIC_URL: 'https://cards.example.com' } },
})
const url = host.urls[main]
const options = ['--url', url.origin, '--token', token]
await promisify(execFile)('node', ['cli/sync-card.ts', 'examples/cards', ...options], { cwd: root }).catch(
  // Some samples have upstreams that are not here; the others are registered.
  ({ stdout, stderr }: { stdout: string; stderr: string }) => console.error(stdout, stderr),
)
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
for (const [name, { path, width, height }] of Object.entries(pictures))
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, viewport: { width, height } })
    await page.goto(new URL(path, url).href, { waitUntil: 'networkidle' })
    const file = `docs/pictures/${name}-${colorScheme}.png`
    await page.screenshot({ path: join(root, file) })
    await page.close()
    console.log(file)
  }
await browser.close()
await host.close()

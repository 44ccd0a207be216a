import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium, type Page } from 'playwright-core'
import { executablePath } from '../../test/support/browser-path.ts'
import { readHostConfig } from '../../test/support/global-setup.ts'
import { main, startHostRuntime, token } from '../../test/support/runtime.ts'
import { makeSigningKey } from '../../test/support/signing-key.ts'

const USAGE = `Usage: npm run pictures, after npm run build

Takes pictures of every page, 1280 and 390 pixels wide, in light and dark, from a host with the sample cards: that of
the README in docs/pictures, all others in .pictures. Needs Chromium, or CHROME_PATH.`

if (process.argv.length > 2 || !existsSync('out/index.js') || executablePath === undefined) {
  console.error(USAGE)
  process.exit(process.argv[2] === '--help' ? 0 : 2)
}

const root = join(import.meta.dirname, '../..')

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

const sendExample = async (page: Page): Promise<void> => {
  await press(page, 'Send')
  await page.locator('.console-response').getByText('completed').waitFor()
}

const checkExample = async (page: Page): Promise<void> => {
  await press(page, 'Show an example')
  await page.getByRole('heading', { name: 'Findings' }).waitFor()
}

const enterToken = async (page: Page): Promise<void> => {
  await page.locator('#token').fill(token)
  await press(page, 'Use this token')
  await page.getByRole('link', { name: 'Echo Agent' }).waitFor()
}

const openAgent = async (page: Page): Promise<void> => {
  await enterToken(page)
  await page.getByRole('link', { name: 'Echo Agent' }).click()
  await page.getByText('Registered by').waitFor()
}

/** The pages, and what a visitor has done on each. */
const pictures: Record<string, { path: string; prepare?: (page: Page) => Promise<void> }> = {
  catalog: { path: '/agents' },
  agent: { path: '/agents/echo', prepare: sendExample },
  tools: { path: '/agents/tool-box', prepare: sendExample },
  lint: { path: '/lint', prepare: checkExample },
  manage: { path: '/manage', prepare: enterToken },
  'manage-agent': { path: '/manage', prepare: openAgent },
  'not-found': { path: '/nowhere' },
}
const IN_README = 'agent'

const PUBLIC_URL = 'https://cards.example.com'
const vars = { PUBLIC_URL, SIGNING_KEY: JSON.stringify(makeSigningKey()) }
const host = await startHostRuntime(readHostConfig(), {
  [main]: { assets: true, examples: ['echo-agent', 'mcp-server'], vars },
})
const url = host.urls[main]
const options = ['--url', url.origin, '--token', token]
await promisify(execFile)('node', ['cli/sync-card.ts', 'examples/cards', ...options], { cwd: root }).catch(
  // Some samples have upstreams that are not here; the others are registered.
  ({ stdout, stderr }: { stdout: string; stderr: string }) => console.error(stdout, stderr),
)
// The page of an agent says whether it works.
await fetch(new URL('/agents/echo/check', url), { method: 'POST', headers: { Authorization: `Bearer ${token}` } })
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
for (const [name, { path, prepare }] of Object.entries(pictures))
  for (const width of [1280, 390])
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: width === 390 ? 844 : 800 } })
      // The pictures show a public address, which is that of the host here.
      await page.route(`${PUBLIC_URL}/**`, async route => {
        const { pathname, search } = new URL(route.request().url())
        await route.fulfill({ response: await route.fetch({ url: new URL(pathname + search, url).href }) })
      })
      await page.goto(new URL(path, url).href, { waitUntil: 'networkidle' })
      await prepare?.(page)
      await page.evaluate('scrollTo(0, 0)')
      const isInReadme = width === 1280 && name === IN_README
      const file = isInReadme
        ? `docs/pictures/${name}-${colorScheme}.png`
        : `.pictures/${name}-${width}-${colorScheme}.png`
      await page.screenshot({ path: join(root, file), fullPage: !isInReadme })
      await page.close()
      console.log(file)
    }
await browser.close()
await host.close()

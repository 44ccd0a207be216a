import axe from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { executablePath } from './browser-path.ts'

/** A browser for the tests of a file. Each context that it opens is closed after its test. */
type TestBrowser = {
  /** Opens a tab of its own: nothing is shared with other tabs. */
  open: (options?: BrowserContextOptions) => Promise<Page>
}

/** Describes tests in a real browser, which are skipped with a message on a machine without one. */
export const describeInBrowser = (name: string, define: (browser: TestBrowser) => void): void => {
  const path = executablePath
  if (path === undefined) {
    describe.skip(`${name} (no Chromium here: install it, or set CHROME_PATH)`, () => define({ open: noBrowser }))
    return
  }
  describe(name, () => {
    let browser: Browser | undefined
    const contexts: BrowserContext[] = []
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox', '--disable-gpu'] })
    })
    afterEach(async () => {
      await Promise.all(contexts.splice(0).map(context => context.close()))
    })
    afterAll(() => browser?.close())
    define({
      open: async (options = {}) => {
        const context = await (browser ?? (await noBrowser())).newContext({ reducedMotion: 'reduce', ...options })
        contexts.push(context)
        context.setDefaultTimeout(10_000)
        return context.newPage()
      },
    })
  })
}

/** The rules of axe that depend on colors and on the size of the window; all others depend on the document only. */
const STYLE_RULES = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size']

/**
 * Returns the rules of accessibility that a page breaks, and where. `style` checks a document again that differs in its style sheet
 * only, as in dark mode.
 */
export const findViolations = async (page: Page, rules: 'all' | 'style' = 'all'): Promise<string[]> => {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source)
  const options: axe.RunOptions = { resultTypes: ['violations'], ...(rules === 'style' && { runOnly: STYLE_RULES }) }
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as axe.AxeResults
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

const noBrowser = (): Promise<never> => Promise.reject(new Error('there is no browser'))

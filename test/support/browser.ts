import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterEach, beforeAll, describe, expect } from 'vitest'
import { executablePath } from './browser-path.ts'

/** A browser for the tests of a file. */
type TestBrowser = {
  /**
   * Opens an empty tab. Without options, it is the same one for all tests of a process, in which scripts that ran before start
   * faster. With options, it shares nothing with other tabs, and is closed after the test.
   */
  open: (options?: BrowserContextOptions) => Promise<Page>
}

/** What the page of a test has complained about: a script that failed, a policy that was broken, a dialog. */
export type Problems = string[]

const wide = { width: 1280, height: 720 }
const narrow = { width: 320, height: 640 }

let launched: Promise<Browser> | undefined
let shared: Promise<Page> | undefined

const launch = (): Promise<Browser> => {
  launched ??= chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox', '--disable-gpu'] })
  return launched
}

const openTab = async (options: BrowserContextOptions = {}): Promise<Page> => {
  const context = await (await launch()).newContext({ reducedMotion: 'reduce', viewport: wide, ...options })
  // On a busy machine, a browser is much slower.
  context.setDefaultTimeout(30_000)
  return context.newPage()
}

/** Describes tests in a real browser, which are skipped with a message on a machine without one. */
export const describeInBrowser = (name: string, define: (browser: TestBrowser) => void): void => {
  if (executablePath === undefined) {
    const open = () => Promise.reject(new Error('there is no browser'))
    describe.skip(`${name} (no Chromium here: install it, or set CHROME_PATH)`, () => define({ open }))
    return
  }
  describe(name, () => {
    const own: Page[] = []
    beforeAll(async () => void (await launch()))
    afterEach(async () => {
      await Promise.all(own.splice(0).map(page => page.context().close()))
      const page = await shared
      if (page === undefined) return
      page.removeAllListeners()
      await page.unrouteAll()
      await page.context().clearCookies()
      await page.goto('about:blank')
    })
    define({
      open: async options => {
        if (options === undefined) {
          shared ??= openTab()
          return shared
        }
        const page = await openTab(options)
        own.push(page)
        return page
      },
    })
  })
}

/** Returns the list to which the problems of a tab are added from now on. Requests to any other origin are among them. */
export const watch = (page: Page, ...origins: string[]): Problems => {
  const problems: Problems = []
  page.on('dialog', dialog => {
    problems.push(dialog.message())
    void dialog.dismiss()
  })
  page.on('console', message => void (message.type() === 'error' && problems.push(message.text())))
  page.on('pageerror', error => void problems.push(error.message))
  const isOther = (url: string) => !origins.includes(new URL(url).origin)
  page.on('request', request => void (isOther(request.url()) && problems.push(request.url())))
  return problems
}

/** Expects a tab to be no wider than a small phone, and leaves it at this width. */
export const expectToFitPhone = async (page: Page): Promise<void> => {
  await page.setViewportSize(narrow)
  expect(await page.evaluate('document.documentElement.scrollWidth'), page.url()).toBeLessThanOrEqual(narrow.width)
}

/** Expects a part of a document to be accessible in a wide window in light and in a narrow one in dark, into which it fits. */
export const expectAccessible = async (page: Page, part = 'html'): Promise<void> => {
  expect(await findViolations(page, part), page.url()).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await expectToFitPhone(page)
  expect(await findViolations(page, part, STYLE_RULES), `${page.url()} in dark`).toEqual([])
  await page.emulateMedia({ colorScheme: null })
  await page.setViewportSize(wide)
}

/** The rules of axe that depend on colors and on the size of the window; all others depend on the document only. */
const STYLE_RULES = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size']

/** Returns the rules of accessibility that a part of a page breaks, and where. */
export const findViolations = async (page: Page, part = 'html', runOnly?: string[]): Promise<string[]> => {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source)
  const options: axe.RunOptions = { preload: false, resultTypes: ['violations'], ...(runOnly && { runOnly }) }
  const { violations } = (await page.evaluate(`axe.run('${part}', ${JSON.stringify(options)})`)) as axe.AxeResults
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

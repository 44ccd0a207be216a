import { beforeAll, expect, it } from 'vitest'
import { loadManifests } from '../../cli/manifests/load.ts'
import { describeInBrowser, expectAccessible, expectToFitPhone, watch } from '../support/browser.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost } from '../support/host.ts'

const host = sharedHost('examples')
const urlOf = (path: string): string => new URL(path, host.url).href

describeInBrowser('a visitor', browser => {
  beforeAll(async () => {
    const { manifest = {} } = loadManifests(['examples/cards/echo.yaml'], host.url.origin).drafts[0] ?? {}
    await host.put('visited-echo', { ...manifest, card: { ...(manifest.card as object), name: 'Visited Echo' } })
    const skills = Array.from({ length: 500 }, (_, index) => ({
      ...{ id: `s-${index}`, name: `Skill ${index}`, tags: ['many', 'work'] },
      ...{ description: `Does the work number ${index} and returns it.`, examples: [`do ${index}`, `redo ${index}`] },
    }))
    await host.put('visited-many', { ...minimalCard, name: 'Visited Many', skills })
    await host.put('visited-none', { ...minimalCard, name: 'W'.repeat(200), description: 'وصف الوكيل. '.repeat(40) })
  })

  it('gets from the catalog to a response of an agent with two clicks', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/agents?q=visited+echo'))
    await page.getByRole('link', { name: 'Visited Echo' }).click()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.console-response').getByText('hello').waitFor()
  })

  it.each([
    ['/agents/visited-echo', 'console', ['Message', 'hello from before'], 'Send', '.console-response .console-text'],
    ['/lint', 'lint-page', ['Card', '{"name":"Before"}'], 'Check', '#report h2'],
  ] as const)(
    'keeps what is written before the script of %s runs',
    async (path, script, [label, text], button, result) => {
      const page = await browser.open()
      const field = page.getByLabel(label, { exact: true })
      const submit = page.getByRole('button', { name: button, exact: true })
      const released = Promise.withResolvers<void>()
      await page.route(`**/${script}*.js`, route => released.promise.then(() => route.continue()))
      await page.goto(urlOf(path), { waitUntil: 'commit' })
      await field.fill(text)
      // Without its script, the browser would load the page again.
      await submit.click({ force: true })
      released.resolve()
      await submit.click()
      expect(await field.inputValue()).toBe(text)
      await page.locator(result).first().waitFor()
    },
  )

  it('gets there with the keyboard only', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/agents?q=visited+echo'))
    const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.id')
    const tabTo = async (name: string): Promise<void> => {
      for (let presses = 0; presses < 60 && (await focused()) !== name; presses += 1) await page.keyboard.press('Tab')
      expect(await focused()).toBe(name)
    }
    await tabTo('Visited Echo')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Visited Echo' }).waitFor()
    // The network is slow: what is sent before the console has loaded is sent then.
    const released = Promise.withResolvers<void>()
    await page.route('**/agent-card.json?*', route => released.promise.then(() => route.continue()))
    await tabTo('hello')
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Message' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Control+Enter')
    released.resolve()
    await page.locator('.console-response').getByText('hello').waitFor()
  })

  it('checks a card with the keyboard only', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/lint'))
    await page.getByLabel('Card', { exact: true }).focus()
    await page.keyboard.type('{"name":"Keys","description":"Sorts keys by their teeth.","url":"https://keys.example/"}')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Findings' }).waitFor()
    await expectAccessible(page)
  })

  it('sees all of 500 skills, and fills the console with an example of the last', async () => {
    const page = await browser.open()
    const problems = watch(page, host.url.origin, 'https://my-agent.example.com')
    await page.goto(urlOf('/agents/visited-many'))
    expect(await page.locator('.skill').count()).toBe(500)
    await page.getByRole('button', { name: 'redo 499' }).click()
    await page.getByRole('textbox', { name: 'Message' }).and(page.locator(':focus')).waitFor()
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('redo 499')
    await expectToFitPhone(page)
    expect(problems).toEqual([])
  })

  it('reads a card with the longest name, a text from right to left, and no skill but the default', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/agents/visited-none'))
    expect(await page.evaluate("getComputedStyle(document.querySelector('.lead')).direction")).toBe('rtl')
    await expectAccessible(page)
  })
})

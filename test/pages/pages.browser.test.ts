import { beforeAll, expect, it } from 'vitest'
import type { Json } from '../../src/json/json.ts'
import { describeInBrowser, expectAccessible, watch } from '../support/browser.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { completeCards } from '../support/cards/complete.ts'
import { sharedHost } from '../support/host.ts'

const host = sharedHost('examples')
const urlOf = (path: string): string => new URL(path, host.url).href

describeInBrowser('the pages in a browser', browser => {
  beforeAll(async () => {
    const skill = { id: 'forecast', name: 'Forecast', description: 'Forecasts.', tags: ['drizzle', 'sun'] }
    const card = { ...minimalCard, skills: [skill], capabilities: { streaming: true } }
    await host.put('browsed-weather', { ...card, name: 'Browsed Weather' })
    await host.put('browsed-complete', { card: completeCards['1.0'] as Json })
    await host.put('browsed-painter', { ...minimalCard, name: 'Browsed Painter' })
  })

  it('are accessible, break no rule of their policy, are painted after two requests, and then move nothing', async () => {
    const page = await browser.open()
    await page.addInitScript(`new PerformanceObserver(list => {
      globalThis.shift = (globalThis.shift ?? 0) + list.getEntries().reduce((sum, { value }) => sum + value, 0)
    }).observe({ type: 'layout-shift', buffered: true })`)
    const isPainted = `new Promise(resolve => {
      new PerformanceObserver(() => resolve(true)).observe({ type: 'paint', buffered: true })
    })`
    const nextFrame = 'new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))'
    // A page is painted when all of it has arrived, and before its scripts run.
    await page.route('**/*.css', async route => {
      await page.locator('footer').waitFor({ state: 'attached' })
      await route.continue()
    })
    await page.route('**/*.js', async route => {
      await page.evaluate(isPainted)
      await route.continue()
    })
    const problems = watch(page, host.url.origin)
    const facts = `[
      getComputedStyle(document.body).display, globalThis.shift ?? 0,
      performance.getEntriesByType('resource').filter(each => each.renderBlockingStatus === 'blocking').length,
    ]`
    for (const [path, statuses = ''] of [
      ['/agents?q=browsed'],
      ['/agents?q=nothing-of-that-name'],
      ['/agents/browsed-complete'],
      ['/agents?cursor=bad', '400'],
      ['/nowhere', '404'],
      ['/lint'],
      ['/manage'],
    ] as const) {
      await page.goto(urlOf(path))
      await page.evaluate(nextFrame)
      expect(await page.evaluate(facts), path).toEqual(['flex', 0, 1])
      expect(problems.splice(0).join(), path).toContain(statuses)
      await expectAccessible(page)
      expect(problems, path).toEqual([])
    }
  })

  it('find agents while somebody types, and by the boxes of the filters with the keyboard only', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/agents'))
    const found = (text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor()
    await page.evaluate("globalThis.before = document.querySelector('[role=status]')")
    await page.getByRole('searchbox').fill('browsed weath')
    await found('1 agent found')
    // Screen readers announce a change of an element that was there before.
    expect(await page.evaluate("globalThis.before === document.querySelector('[role=status]')")).toBe(true)
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['Browsed Weather'])
    expect(new URL(page.url()).search).toBe('?q=browsed+weath')

    await page.getByRole('searchbox').fill('browsed')
    await found('2 agents found, best match first')
    expect(await page.locator('#filters').getAttribute('open')).not.toBeNull()
    const box = page.getByRole('checkbox', { name: 'drizzle' })
    await box.focus()
    await page.keyboard.press('Space')
    await found('1 agent found')
    expect(await box.isChecked()).toBe(true)
    expect(await page.evaluate('document.activeElement.value')).toBe('drizzle')
  })

  it('work without JavaScript, and offer nothing that needs it', async () => {
    const page = await browser.open({ javaScriptEnabled: false })
    await page.goto(urlOf('/'))
    await page.getByRole('searchbox').fill('browsed weather')
    await page.getByRole('button', { name: 'Search' }).click()
    expect(await page.getByRole('status').textContent()).toBe('1 agent found')
    await page.getByRole('link', { name: 'Browsed Weather' }).click()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Browsed Weather')
    await page.getByText('The console needs JavaScript.').waitFor()
    expect(await page.getByRole('button').count()).toBe(0)
    await page.getByText('Python', { exact: true }).click()
    const isShown = (name: string) => page.getByRole('region', { name }).isVisible()
    expect([await isShown('python'), await isShown('curl')]).toEqual([true, false])
    await page.getByText('The card as JSON, in').click()
    await page.getByRole('link', { name: 'A2A 0.3' }).click()
    await page.getByRole('region', { name: 'The card in A2A 0.3' }).waitFor()

    await page.goto(urlOf('/manage'))
    expect(await page.locator('noscript').textContent()).toMatch(/npx sync-card.*rollback ID 6/s)
    expect(await page.locator('input').count()).toBe(0)
  })
})

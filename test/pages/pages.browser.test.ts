import type { Page } from 'playwright-core'
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
    await found('2 agents found')
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
    await page.getByRole('link', { name: 'A2A 0.3' }).click()
    await page.getByRole('region', { name: 'The card in A2A 0.3' }).waitFor()
    await page.getByText('Python', { exact: true }).click()
    const isShown = (name: string) => page.getByRole('region', { name }).isVisible()
    expect([await isShown('Python'), await isShown('curl')]).toEqual([true, false])

    await page.goto(urlOf('/manage'))
    expect(await page.locator('noscript').textContent()).toMatch(/npx sync-card.*rollback ID 6/s)
    expect(await page.locator('#token-form').isVisible()).toBe(false)
    const field = page.locator('#token')
    const attributes = ['name', 'type', 'autocomplete'].map(name => field.getAttribute(name))
    expect(await Promise.all(attributes)).toEqual([null, 'password', 'off'])
  })
})

describeInBrowser('the page that checks a card', browser => {
  const openLint = async (): Promise<Page> => {
    const page = await browser.open()
    await page.goto(urlOf('/lint'))
    return page
  }
  const check = async (page: Page, text: string): Promise<void> => {
    await page.getByLabel('Card', { exact: true }).fill(text)
    await page.getByRole('button', { name: 'Check', exact: true }).click()
  }
  const says = (page: Page, text: string | RegExp) => page.getByRole('status').getByText(text).waitFor()
  const line = (page: Page, number: number) =>
    page.getByRole('listitem').filter({ has: page.getByRole('button', { name: `Go to line ${number}`, exact: true }) })

  it('marks the lines of a card in YAML or in a manifest, and shows what clients get', async () => {
    const page = await openLint()
    const card = 'name: Weather\ndescription: Forecasts.\nurl: https://agent.test/a2a\nskils: []\n'
    await check(page, `${card}signatures: [{protected: e30, signature: c2ln}]\n`)
    await says(page, 'they break clients. Found: 1 error')
    expect(await line(page, 4).textContent()).toMatch(/skils: \[\].*skills/s)
    await page.getByRole('heading', { name: 'Filled in' }).waitFor()
    await page.getByRole('heading', { name: 'Signatures' }).waitFor()
    await page.getByText('Telex', { exact: true }).click()
    expect(await page.getByRole('region', { name: 'The card in Telex' }).textContent()).toContain('"name": "Weather"')
    expect(await page.getByText('Suggestion').count()).toBeGreaterThan(0)
    await expectAccessible(page)
    expect(page.url()).toBe(urlOf('/lint'))

    await check(page, `visibility: public\ncard:\n  ${card.replaceAll('\n', '\n  ')}`)
    await line(page, 6).getByText('skills').waitFor()
  })

  it('says what is wrong with a text that is no card, and reads none that is too large', async () => {
    const page = await openLint()
    for (const [text, message] of [
      ['{"name": "x",\n "url": }', 'This text cannot be read.'],
      ['{"hello": "<img src=x onerror=alert(1)>"}', 'The card cannot be published'],
      [' ', 'Paste a card first.'],
      ['name: W\ndescription: F.\nurl: https://10.0.0.1/a2a\n', /^Correct the errors before .* Found: 1 error, /],
      [`name: ${'x'.repeat(300_000)}`, /^The card has 30\d+ bytes; at most \d+ are allowed\.$/],
      [`{${'"a":1,'.repeat(300)}"a":1}`, 'This text cannot be read.'],
    ] as const) {
      await check(page, text)
      await says(page, message)
      expect(await page.locator('#report img').count(), text).toBe(0)
    }
    await page.getByText(/^\d+ more findings$/).waitFor()
    expect(await page.locator('#report .message').count()).toBe(200)
    await page.evaluate(`document.getElementById('card').value = '# '.repeat(600_000)`)
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await says(page, 'This text is too large for a card.')
  })

  it('checks a file that is opened or dropped', async () => {
    const page = await openLint()
    const text = () => page.getByLabel('Card', { exact: true }).inputValue()
    const file = { name: 'card.yaml', mimeType: 'application/yaml', buffer: Buffer.from('name: Opened') }
    await page.getByLabel('Open a file').setInputFiles(file)
    await says(page, 'The card cannot be published')
    expect(await text()).toBe('name: Opened')
    const dataTransfer = await page.evaluateHandle(`(() => {
      const data = new DataTransfer()
      data.items.add(new File(['- dropped: ['], 'card.yaml'))
      return data
    })()`)
    await page.dispatchEvent('#check', 'drop', { dataTransfer })
    await says(page, 'This text cannot be read.')
    expect(await text()).toBe('- dropped: [')
  })

  it('reports a request that fails, a failure of the host and a defect of the page as what they are', async () => {
    const page = await openLint()
    for (const [response, message] of [
      ['abort', 'This host cannot be reached right now.'],
      [{ status: 500, body: '' }, 'The host answered with the status 500 and no reason.'],
      [{ status: 200, json: { valid: true } }, 'This page has failed. Load it again.'],
    ] as const) {
      await page.route('**/lint?*', route => (response === 'abort' ? route.abort() : route.fulfill(response)))
      await check(page, 'name: Weather')
      await says(page, message)
      await page.unrouteAll()
    }
  })
})

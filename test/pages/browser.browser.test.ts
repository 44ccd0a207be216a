import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser, findViolations } from '../support/browser.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { type OwnHost, startHost } from '../support/host.ts'

describeInBrowser('the pages in a browser', browser => {
  let host: OwnHost
  beforeAll(async () => {
    host = await startHost({}, { assets: true })
    const skill = { id: 'forecast', name: 'Forecast', description: 'Forecasts.', tags: ['rain', 'sun'] }
    await host.put('weather', { ...minimalCard, name: 'Weather', skills: [skill], capabilities: { streaming: true } })
    await host.put('painter', { ...minimalCard, name: 'Painter' })
  })
  afterAll(() => host.close())

  const urlOf = (path: string): string => new URL(path, host.url).href
  const namesOf = (page: Page) => page.getByRole('heading', { level: 2 }).allTextContents()

  it('have their style sheet and scripts, and break no rule of their policy', async () => {
    const page = await browser.open()
    const problems: string[] = []
    page.on('console', message => void (message.type() === 'error' && problems.push(message.text())))
    for (const path of ['/agents', '/agents/weather', '/lint', '/manage']) {
      const { length } = problems
      await page.goto(urlOf(path), { waitUntil: 'load' })
      expect(await page.evaluate('getComputedStyle(document.body).display'), path).toBe('flex')
      expect(problems.slice(length), path).toStrictEqual([])
    }
  })

  it.each(['/', '/agents?q=weather', '/agents?q=nothing', '/agents?cursor=bad', '/nowhere', '/lint', '/manage'])(
    'are accessible, in light and dark, and no wider than a small phone: %s',
    async path => {
      const page = await browser.open({ viewport: { width: 320, height: 640 } })
      await page.goto(urlOf(path))
      expect(await findViolations(page), 'light').toStrictEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await findViolations(page, 'style'), 'dark').toStrictEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    },
  )

  it('find agents while somebody types, and announce how many', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/agents'))
    await page.evaluate("globalThis.before = document.querySelector('[role=status]')")
    await page.getByRole('searchbox').fill('weath')
    await page.getByText('1 agent found').waitFor()
    expect(await page.evaluate("globalThis.before === document.querySelector('[role=status]')")).toBe(true)
    expect(await namesOf(page)).toEqual(['Weather'])
    expect(new URL(page.url()).search).toBe('?q=weath')
    expect(await page.getByRole('status').textContent()).toBe('1 agent found')
  })

  it('find agents by the boxes of the filters, with the keyboard only', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/agents'))
    expect(await page.locator('#filters').getAttribute('open')).not.toBeNull()
    const box = page.getByRole('checkbox', { name: 'rain' })
    await box.focus()
    await page.keyboard.press('Space')
    await page.getByText('1 agent found').waitFor()
    expect(await box.isChecked()).toBe(true)
    expect(await page.evaluate('document.activeElement.value')).toBe('rain')
  })

  it('find agents without JavaScript, too', async () => {
    const page = await browser.open({ javaScriptEnabled: false })
    await page.goto(urlOf('/'))
    await page.getByRole('searchbox').fill('weather')
    await page.getByRole('button', { name: 'Search' }).click()
    expect(await page.getByRole('status').textContent()).toBe('1 agent found')
    await page.getByRole('link', { name: 'Weather' }).click()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Weather')
  })

  it('check a card in YAML, and mark what is to say at its lines', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/lint'))
    await page
      .getByLabel('Card', { exact: true })
      .fill(
        'name: Weather\ndescription: Forecasts.\nurl: https://agent.test/a2a\nskils: []\nsignatures: [{protected: e30, signature: c2ln}]\n',
      )
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.getByText('they break clients. Found: 1 error').waitFor()
    const line = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Go to line 4' }) })
    expect(await line.textContent()).toMatch(/skils: \[\].*skills/s)
    await page.getByRole('heading', { name: 'Filled in' }).waitFor()
    await page.getByRole('heading', { name: 'Signatures' }).waitFor()
    await page.getByText('Telex', { exact: true }).click()
    expect(await page.getByRole('region', { name: 'The card in Telex' }).textContent()).toContain('"name": "Weather"')
    expect(await page.getByText('Suggestion').count()).toBeGreaterThan(0)
    expect(await findViolations(page)).toStrictEqual([])
    expect(page.url()).toBe(urlOf('/lint'))
  })

  it.each([
    ['a request that fails', '**/lint?*', { abort: true }, 'This host cannot be reached right now.'],
    ['a failure of the host', '**/lint?*', { status: 500, body: '' }, 'The host has failed (500).'],
    [
      'a defect of the page',
      '**/lint?*',
      { status: 200, json: { valid: true } },
      'This page has failed. Load it again.',
    ],
  ])('report %s as what it is when a card is checked', async (_, path, response, message) => {
    const page = await browser.open()
    await page.goto(urlOf('/lint'))
    await page.route(path, route => ('abort' in response ? route.abort() : route.fulfill(response)))
    await page.getByLabel('Card', { exact: true }).fill('name: Weather')
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.getByRole('status').getByText(message).waitFor()
  })

  it('do not say that a card with errors can be published', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/lint'))
    await page.getByLabel('Card', { exact: true }).fill('name: W\ndescription: Forecasts.\nurl: https://10.0.0.1/a2a\n')
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    const text = 'Correct the errors before you publish the card: they break clients. Found: 1 error, '
    await page.getByRole('status').getByText(text).waitFor()
  })

  it('show a part of very many findings, and read no text that is much larger than a card', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/lint'))
    const check = async (text: string): Promise<void> => {
      await page.evaluate(`document.getElementById('card').value = ${text}`)
      await page.getByRole('button', { name: 'Check', exact: true }).click()
    }
    await check(`'{' + '"a":1,'.repeat(300) + '"a":1}'`)
    await page.getByText('This text cannot be read.').waitFor()
    await page.getByText(/^\d+ more findings$/).waitFor()
    expect(await page.locator('#report .message').count()).toBe(200)
    await check(`'# '.repeat(600_000)`)
    await page.getByText('This text is too large for a card.').waitFor()
  })

  it('check a file that is opened or dropped', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/lint'))
    const file = (text: string) => ({ name: 'card.yaml', mimeType: 'application/yaml', buffer: Buffer.from(text) })
    await page.getByLabel('Open a file').setInputFiles(file('name: Opened'))
    await page.getByRole('status').getByText('The card cannot be published').waitFor()
    expect(await page.getByLabel('Card', { exact: true }).inputValue()).toBe('name: Opened')
    const dataTransfer = await page.evaluateHandle(`(() => {
      const data = new DataTransfer()
      data.items.add(new File(['- dropped: ['], 'card.yaml'))
      return data
    })()`)
    await page.dispatchEvent('#check', 'drop', { dataTransfer })
    await page.getByRole('status').getByText('This text cannot be read.').waitFor()
    expect(await page.getByLabel('Card', { exact: true }).inputValue()).toBe('- dropped: [')
  })

  it('mark the lines of a card in a manifest, and refuse one that is too large', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/lint'))
    const check = async (text: string): Promise<void> => {
      await page.getByLabel('Card', { exact: true }).fill(text)
      await page.getByRole('button', { name: 'Check', exact: true }).click()
    }
    await check(
      'visibility: public\ncard:\n  name: Weather\n  description: Forecasts.\n  url: https://agent.test/a2a\n  skils: []\n',
    )
    const line = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Go to line 6' }) })
    await line.getByText('skills').waitFor()
    await check(`name: ${'x'.repeat(300_000)}`)
    await page
      .getByRole('status')
      .getByText(/^The card has 30\d+ bytes; at most \d+ are allowed\.$/)
      .waitFor()
  })

  it('say what is wrong with a text that is not JSON, no card, or empty', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/lint'))
    for (const [text, message] of [
      ['{"name": "x",\n "url": }', 'This text cannot be read.'],
      ['{"hello": "<img src=x onerror=alert(1)>"}', 'The card cannot be published'],
      [' ', 'Paste a card first.'],
    ] as const) {
      await page.getByLabel('Card', { exact: true }).fill(text)
      await page.getByRole('button', { name: 'Check', exact: true }).click()
      await page.getByRole('status').getByText(message).waitFor()
      expect(await page.locator('#report img').count(), text).toBe(0)
    }
  })

  it.each(['/', '/agents/weather', '/lint', '/manage'])(
    'are painted after two requests at most, and then move nothing: %s',
    async path => {
      const page = await browser.open()
      await page.addInitScript(`new PerformanceObserver(list => {
        globalThis.shift = (globalThis.shift ?? 0) + list.getEntries().reduce((sum, { value }) => sum + value, 0)
      }).observe({ type: 'layout-shift', buffered: true })`)
      await page.goto(urlOf(path), { waitUntil: 'networkidle' })
      const blocking = `performance.getEntriesByType('resource').filter(each => each.renderBlockingStatus === 'blocking').length`
      expect(await page.evaluate(blocking)).toBe(1)
      expect(await page.evaluate('globalThis.shift ?? 0')).toBe(0)
    },
  )

  it.each(['/', '/agents/weather'])('weigh at most 20 KiB with their style sheet: %s', async path => {
    const page = await (await host.fetch(path, { headers: { Accept: 'text/html' } })).text()
    const [, style = ''] = /rel="stylesheet" href="([^"]+)"/.exec(page) ?? []
    const sizes = [page, await (await host.fetch(style)).text()].map(text => gzipSync(text).byteLength)
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(20 * 1024)
  })
})

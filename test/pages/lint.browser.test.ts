import { deflateRawSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInBrowser, expectAccessible } from '../support/browser.ts'
import { sharedHost } from '../support/host.ts'

const host = sharedHost('examples')
const urlOf = (path: string): string => new URL(path, host.url).href

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
  const textOf = (page: Page) => page.getByLabel('Card', { exact: true }).inputValue()
  const says = (page: Page, text: string | RegExp) => page.getByRole('status').getByText(text).waitFor()
  const line = (page: Page, number: number) =>
    page.getByRole('listitem').filter({ has: page.getByRole('button', { name: `Go to line ${number}`, exact: true }) })

  it('marks the lines of a card in YAML or in a manifest, and shows what clients get', async () => {
    const page = await openLint()
    const card = 'name: Weather\ndescription: Forecasts.\nurl: https://agent.test/a2a\nskils: []\n'
    await check(page, `${card}signatures: [{protected: e30, signature: c2ln}]\n`)
    await says(page, /^Not ready to publish: 1 error, 3 warnings, \d suggestions$/)
    expect(await line(page, 4).textContent()).toMatch(/skils: \[\].*skills/s)
    await page.getByText(/^Signatures \(\d\)$/).click()
    await page.getByText(/^What clients get \(\d\)$/).click()
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
      ['{"hello": "<img src=x onerror=alert(1)>"}', /^Not publishable: \d errors$/],
      [' ', 'Paste a card first.'],
      ['name: W\ndescription: F.\nurl: https://10.0.0.1/a2a\n', /^Not ready to publish: 1 error, /],
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
    const file = { name: 'card.yaml', mimeType: 'application/yaml', buffer: Buffer.from('name: Opened') }
    await page.getByLabel('Open a file').setInputFiles(file)
    await says(page, 'Not publishable')
    expect(await textOf(page)).toBe('name: Opened')
    const dataTransfer = await page.evaluateHandle(`(() => {
      const data = new DataTransfer()
      data.items.add(new File(['- dropped: ['], 'card.yaml'))
      return data
    })()`)
    await page.dispatchEvent('#check', 'drop', { dataTransfer })
    await says(page, 'This text cannot be read.')
    expect(await textOf(page)).toBe('- dropped: [')
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
    await page.goto(urlOf('/lint'))
    await page.route('**/assets/*.js', route => route.abort())
    await check(page, 'name: Weather')
    await says(page, 'This host cannot be reached right now.')
    await page.unrouteAll()
    await check(page, 'name: Weather')
    await says(page, 'Not publishable')
    // While the host takes long, the page says so, and shows the result of the last text only.
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/lint?*', route => promise.then(() => route.continue()), { times: 1 })
    await check(page, 'name: Weather')
    await says(page, 'Checking …')
    await check(page, 'name: W\ndescription: Forecasts the weather of a place.\nurl: https://a.example.com/a2a\n')
    await says(page, 'Ready to publish')
    const late = page.waitForResponse('**/lint?*')
    resolve()
    await (await late).finished()
    await page.evaluate('new Promise(requestAnimationFrame)')
    expect(await page.getByRole('status').textContent()).toContain('Ready to publish')
  })

  it('indents JSON on one line without changing a value, and corrects it by a button', async () => {
    const page = await openLint()
    await check(
      page,
      '{"name":"W: {1}","description":"Forecasts the weather of a place.","url":"https://a.example.com/a2a","skils":[ ],"x-n":1.0}',
    )
    await says(page, 'Publishable, with 1 warning')
    const indented = `{
  "name": "W: {1}",
  "description": "Forecasts the weather of a place.",
  "url": "https://a.example.com/a2a",
  "skils": [],
  "x-n": 1.0
}`
    expect(await textOf(page)).toBe(indented)
    await page.getByRole('button', { name: 'Go to line 5' }).press('Enter')
    expect(await page.evaluate('String(getSelection())')).toBe('  "skils": [],')
    await line(page, 5).getByRole('button', { name: 'Rename to skills' }).press('Enter')
    await says(page, '/skils: Rename to skills. Ready to publish, with')
    expect(await textOf(page)).toBe(indented.replace('skils', 'skills'))
    expect(await page.evaluate('document.activeElement.id')).toBe('status')
  })

  it('corrects YAML and front matter, and writes what is filled in, without touching the rest', async () => {
    const page = await openLint()
    const yaml = `# Mine
name: Weather   # the name
description: Forecasts the weather of a place.
url: https://a.example.com/a2a
protocolVersion: 0.3.0
skills:
  - id: getWeather # called so
    name: Forecast
    description: Forecasts the weather of a place.
    tags: [ weather,sun ]
version: v2
`
    const fix = (name: string) => page.getByRole('button', { name, exact: true }).press('Enter')
    const corrected = yaml.replace('getWeather', 'get-weather').replace('v2', '"2.0.0"')
    for (const [before, after] of [
      [yaml, corrected],
      [`---\n${yaml}---\n# Prompt\n`, `---\n${corrected}---\n# Prompt\n`],
    ] as const) {
      await check(page, before)
      await page.getByText(/^What clients get/).click()
      await fix('Set to "get-weather"')
      await says(page, 'Set to "get-weather". Publishable')
      // The button that is now in its place.
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Set to "2.0.0"')
      await fix('Set to "2.0.0"')
      await says(page, 'Ready to publish')
      expect(await textOf(page)).toBe(after)
      // What was open stays open while the text is corrected.
      expect(await page.locator('#report > details[open] > summary').allTextContents()).toEqual([
        expect.stringMatching(/^What clients get/),
      ])
    }
    await check(page, corrected)
    await page.getByText(/^Filled in \(\d\)$/).click()
    await page.getByText('/capabilities/streaming: false').waitFor()
    await fix('Write these into the card')
    await says(page, 'Written into the card. Ready to publish')
    const capabilities = 'capabilities:\n  streaming: false\n  pushNotifications: false\n  extendedAgentCard: false\n'
    const modes = ['defaultInputModes', 'defaultOutputModes'].map(
      name => `${name}:\n  - text/plain\n  - application/json\n`,
    )
    expect(await textOf(page)).toBe(corrected + capabilities + modes.join(''))
    expect(await page.getByText(/^Filled in/).count()).toBe(0)
  })

  it('shows an example whose findings a button corrects, and refuses a link that would block the page', async () => {
    const page = await openLint()
    await page.getByRole('button', { name: 'Show an example' }).click()
    for (const fix of ['Rename to documentationUrl', 'Set to "get-forecast"']) {
      await page.getByRole('button', { name: fix, exact: true }).press('Enter')
      await says(page, `${fix}. Publishable`)
    }
    const code = deflateRawSync('a:\n'.repeat(200_000)).toString('base64url')
    await page.evaluate(`location.hash = 'card=${code}'`)
    await says(page, 'This text has too many lines for a card.')
    expect(await textOf(page)).not.toContain('a:')
    // One line stays one line where it would be too many of them.
    const long = `[1${',1'.repeat(60_000)}]`
    await check(page, long)
    await says(page, 'This text cannot be read.')
    await line(page, 1).getByText('too long for a card').waitFor()
    expect((await textOf(page)) === long).toBe(true)
  })

  it('changes nothing by a finding about an older text', async () => {
    const page = await openLint()
    await check(
      page,
      'name: W\nskils: []\ndescription: Forecasts the weather of a place.\nurl: https://a.example.com/a2a\n',
    )
    const button = page.getByRole('button', { name: 'Rename to skills' })
    await button.waitFor()
    await page.getByLabel('Card', { exact: true }).fill('skils: []')
    await button.click()
    await says(page, 'You have changed the text since: it was checked again. Not publishable')
    expect(await textOf(page)).toBe('skils: []')
  })

  it('copies a link that carries the card, and opens it in the tab, without sending the fragment', async () => {
    const page = await openLint()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const card = 'name: "Wetter ☀"\ndescription: Forecasts the weather of a place.\nurl: https://a.example.com/a2a\n'
    await page.getByLabel('Card', { exact: true }).fill(card)
    await page.getByRole('button', { name: 'Copy link with this card' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const link = (await page.evaluate('navigator.clipboard.readText()')) as string
    expect(link).toMatch(/\/lint#card=[\w-]{80,150}$/)
    await page.getByLabel('Card', { exact: true }).fill('')
    await page.evaluate(`location.href = ${JSON.stringify(link)}`)
    await says(page, 'Ready to publish')
    expect([await textOf(page), page.url()]).toEqual([card, urlOf('/lint')])
    await page.goto('about:blank')
    await page.goto(link)
    await says(page, 'Ready to publish')
    expect(await textOf(page)).toBe(card)
  })

  it('refuses a link that is cut or expands to more than a card, and a card that is too large for one', async () => {
    const page = await openLint()
    const bomb = deflateRawSync(Buffer.alloc(10_000_000)).toString('base64url')
    for (const [code, message] of [
      [bomb, 'The card in this link is too large.'],
      ['A'.repeat(20_000), 'The card in this link is too large.'],
      [deflateRawSync('name: Weather').toString('base64url').slice(0, 8), 'cannot be read'],
      [deflateRawSync(Buffer.from([0xff])).toString('base64url'), 'cannot be read'],
      ['%', 'cannot be read'],
    ] as const) {
      await page.evaluate(`document.getElementById('status').textContent = ''; location.hash = 'card=${code}'`)
      await says(page, message)
      expect(await textOf(page)).toBe('')
    }
    const random = Array.from({ length: 20_000 }, (_, index) => Math.sin(index).toString(36).slice(-3)).join('')
    await page.getByLabel('Card', { exact: true }).fill(random)
    await page.getByRole('button', { name: 'Copy link with this card' }).click()
    await says(page, 'This card is too large for a link')
  })
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { type OwnHost, startHost } from '../support/host.ts'

describeInBrowser('the pages in a browser', browser => {
  let host: OwnHost
  beforeAll(async () => {
    host = await startHost({}, { assets: true })
    await host.put('weather', { name: 'Weather', description: 'Tells the weather.', url: 'https://agent.test/' })
  })
  afterAll(() => host.close())

  it('has the style sheet and the icon of the host, and breaks no rule of its policy', async () => {
    const page = await browser.open()
    const problems: string[] = []
    page.on('console', message => void (message.type() === 'error' && problems.push(message.text())))
    await page.goto(new URL('/agents', host.url).href)
    await page.getByRole('link', { name: 'Weather' }).click()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Weather')
    expect(await page.evaluate('getComputedStyle(document.body).display')).toBe('flex')
    expect(problems).toStrictEqual([])
  })
})

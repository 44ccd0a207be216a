import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { CARD_COLORS } from '../../src/pages/images/card-image.tsx'
import { describeInBrowser, expectToFitPhone, watch } from '../support/browser.ts'
import { agentCard, bilingualCard } from '../support/cards/cards.ts'
import { completeCards } from '../support/cards/complete.ts'
import { sharedHost } from '../support/host.ts'
import { mapStrings } from '../support/hostile.ts'

const complete = completeCards['1.0'] as JsonObject
const markup =
  `"><script>pwned=1</script><img src=x onerror="pwned=1"><svg/onload=pwned=1>javascript:pwned=1 ' onfocus=pwned=1 autofocus x='` +
  '\u202e\u2066\u061c\u200f{{7*7}}</textarea></title><!--'

/** Writes a text into every string of a card whose value is free. Addresses have it in their path. */
const withText = (text: string, description: string): JsonObject =>
  mapStrings(complete, (value, path) => {
    const name = path.findLast(each => typeof each === 'string')
    if (value.startsWith('http')) return `${value}/${encodeURI(text).replace(/%22/g, '"')}`
    if (name === 'description' || name === 'examples') return description
    // A header cannot have any name.
    if (name === 'location') return 'query'
    // The console calls the first interface.
    if (path[1] === 0 && (name === 'protocolBinding' || name === 'protocolVersion')) return value
    return path.includes('signatures') ? value : text
  }) as JsonObject

// Every card has the signatures of this host, too.
const host = sharedHost('signing')
const { origin } = host.url
const urlOf = (path: string): string => new URL(path, host.url).href
const put = async (id: string, card: Json): Promise<void> => {
  const response = await host.put(id, { card })
  if (!response.ok) throw new Error(`${id}: ${await response.text()}`)
}

const openJson = (page: Page) => page.getByText('The card as JSON, in').click()

describeInBrowser('the page of a card in a browser', browser => {
  beforeAll(() => put('seen-weather', agentCard('https://agent.test')))

  it('shows a hostile card as text', async () => {
    await put('seen-markup', withText(markup, `${markup}\u0001\u001b[31m\u009b\n\t${'W'.repeat(3000)}`))
    const page = await browser.open()
    const problems = watch(page, origin)
    await page.goto(urlOf('/agents/seen-markup'))
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(markup)
    const active = ':is(script:not([src^="/assets/"]), img, iframe, object, [onload], [onerror])'
    expect(await page.locator(`main ${active}, main [autofocus]`).count()).toBe(0)
    expect(await page.locator('main :is(form, textarea)').count()).toBe(2)
    const links = (await page.evaluate(
      'Array.from(document.querySelectorAll("main a"), ({ href, rel, origin }) => ({ href, rel, origin }))',
    )) as { href: string; rel: string; origin: string }[]
    expect(links.filter(({ href }) => !/^https?:/.test(href))).toEqual([])
    const relations = links.flatMap(link => (link.origin === origin ? [] : link.rel))
    expect(new Set(relations)).toEqual(new Set(['noopener nofollow ugc']))
    expect(await page.getByText('\ufffd[31m').count()).toBeGreaterThan(0)
    await openJson(page)
    await page.getByRole('link', { name: 'Telex' }).click()
    await page.getByText('The card in Telex').waitFor({ state: 'attached' })
    await expectToFitPhone(page)
    expect([problems, await page.evaluate('typeof pwned')]).toEqual([[], 'undefined'])
  })

  it('copies what is shown of the ways to use it, an endpoint and the JSON', async () => {
    const page = await browser.open({ permissions: ['clipboard-read', 'clipboard-write'] })
    await page.goto(urlOf('/agents/seen-weather'))
    const copied = async (button: string): Promise<string> => {
      await page.getByRole('button', { name: button }).click()
      await page.getByText('Copied', { exact: true }).first().waitFor()
      return (await page.evaluate('navigator.clipboard.readText()')) as string
    }
    expect(await copied('Copy what is shown')).toMatch(/^curl -sS 'https:\/\/agent\.test\/rpc-1' \\\n/)
    // Tabs are reached with the keys of the arrows.
    await page.getByRole('radio', { name: 'curl' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    expect(await copied('Copy what is shown')).toMatch(/^# pip install a2a-sdk/)
    await page.getByText('Card URL', { exact: true }).click()
    expect(await copied('Copy what is shown')).toBe(urlOf('/agents/seen-weather/.well-known/agent-card.json'))
    await page.getByText(/^\d endpoints$/).click()
    expect(await copied('Copy endpoint 2')).toBe('https://agent.test/rpc-0')
    await openJson(page)
    expect(JSON.parse(await copied('Copy The card in A2A 1.0'))).toEqual(
      await (await host.fetch('/agents/seen-weather?dialect=1.0')).json(),
    )
    await page.getByRole('button', { name: 'Copy what is shown' }).getByText('Copy', { exact: true }).waitFor()
  })

  it('has name, state, a way to try it and code on the first screen, of a phone too', async () => {
    for (const [width, height] of [
      [1280, 800],
      [390, 844],
    ] as const) {
      const page = await browser.open({ viewport: { width, height } })
      await page.goto(urlOf('/agents/seen-weather'))
      const parts = ['h1', '.lead', '.state', '#message', '#use-title']
      const bottoms = await page.evaluate(
        `${JSON.stringify(parts)}.map(part => document.querySelector(part).getBoundingClientRect().bottom)`,
      )
      for (const [index, bottom] of (bottoms as number[]).entries())
        expect(bottom, `${parts[index]} at ${width}`).toBeLessThanOrEqual(height)
    }
  })

  it('switches the representation without loading the page again, and back, to the one that was chosen last', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/agents/seen-weather'))
    await page.evaluate('globalThis.isSame = true')
    await openJson(page)
    const shown = (label: string) => page.getByRole('region', { name: `The card in ${label}` })
    await page.getByRole('link', { name: 'SuperX' }).click()
    await shown('SuperX').waitFor()
    expect(JSON.parse((await shown('SuperX').textContent()) ?? '')).toEqual(
      await (await host.fetch('/agents/seen-weather?dialect=superx')).json(),
    )
    expect(new URL(page.url()).search).toBe('?view=superx')
    expect(await page.getByRole('link', { name: 'Open the raw document' }).getAttribute('href')).toBe(
      '/agents/seen-weather/.well-known/agent-card.json?dialect=superx',
    )
    expect(await page.evaluate('document.activeElement.textContent')).toBe('SuperX')
    await page.goBack()
    await shown('A2A 1.0').waitFor()
    expect(await page.evaluate('isSame')).toBe(true)

    // The response that was asked for first arrives last.
    const released = Promise.withResolvers<void>()
    await page.route('**/*view=telex', async route => {
      await released.promise
      await route.continue()
    })
    const late = page.waitForResponse('**/*view=telex')
    await page.getByRole('link', { name: 'Telex' }).click()
    await page.getByRole('link', { name: 'SuperX' }).click()
    await shown('SuperX').waitFor()
    released.resolve()
    await (await late).finished()
    await page.evaluate('fetch("/favicon.svg", { cache: "no-store" }).then(response => response.text())')
    expect(await shown('SuperX').count()).toBe(1)
    expect(await page.locator('#status').textContent()).toBe('The card in SuperX')
  })
})

/** Returns a color as browsers write it. */
const toRgb = (hex: string): string =>
  `rgb(${(hex.match(/[\da-f]{2}/g) ?? []).map(part => Number.parseInt(part, 16)).join(', ')})`

describeInBrowser('the pictures of an agent in a browser', browser => {
  it('have the colors of the reader, break no rule of their policy, and can be embedded by another origin', async () => {
    await put('seen-pictured', { ...bilingualCard, name: 'Seen <script>alert(1)</script>' })
    const page = await browser.open()
    const problems = watch(page, origin)
    await page.goto(urlOf('/agents/seen-pictured/card.svg'))
    const fill = () => page.evaluate("getComputedStyle(document.querySelector('.surface')).fill")
    const [light, dark] = CARD_COLORS.surface
    expect(await fill()).toBe(toRgb(light))
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await fill()).toBe(toRgb(dark))
    await page.emulateMedia({ colorScheme: null })
    await page.goto(urlOf('/agents/seen-pictured/badge.svg'))
    expect(await page.evaluate('document.title')).toBe('A2A: 1.0, 0.3')

    const images = ['card.svg', 'badge.svg'].map(file => `<img src="${urlOf(`/agents/seen-pictured/${file}`)}">`)
    const other = await browser.open({})
    await other.setContent(images.join(''), { waitUntil: 'load' })
    expect(await other.evaluate('Array.from(document.images, each => each.naturalHeight)')).toEqual([320, 20])
    expect(problems).toEqual([])
  })
})

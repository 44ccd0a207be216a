import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { describeInBrowser, findViolations } from '../support/browser.ts'
import { agentCard } from '../support/cards/cards.ts'
import { completeCards } from '../support/cards/complete.ts'
import { type OwnHost, startHost } from '../support/host.ts'
import { mapStrings } from '../support/hostile.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const complete = completeCards['1.0'] as JsonObject
const markup =
  `"><script>pwned=1</script><img src=x onerror="pwned=1"><svg/onload=pwned=1>javascript:pwned=1 ' onfocus=pwned=1 autofocus x='` +
  '\u202e\u2066\u061c\u200f{{7*7}}</textarea></title><!--'

/** Writes a text into every string of a card whose value is free. Addresses have it in their path. */
const withText = (text: string, description = text): JsonObject =>
  mapStrings(complete, (value, path) => {
    const name = path.findLast(each => typeof each === 'string')
    if (value.startsWith('http'))
      return `${value}/${encodeURI(text)
        .replace(/%22/g, '"')
        .slice(0, 16_000 - value.length)}`
    if (name === 'description' || name === 'examples') return description
    // A header cannot have any name.
    if (name === 'location') return 'query'
    return path.includes('signatures') ? value : text
  }) as JsonObject

/** A card with words of 16 KiB, and a name of 900 characters, as many as the body of a registration has room for. */
const longWords = (): JsonObject => {
  const word = 'W'.repeat(16_000)
  const url = `https://agent.test/${word}`
  return {
    ...complete,
    ...{ name: word, description: word, version: word, documentationUrl: url },
    provider: { organization: word, url: 'https://agent.test/' },
    supportedInterfaces: [{ url, protocolBinding: word, protocolVersion: '1.0', tenant: word }],
    capabilities: { extensions: [{ uri: `urn:${word}`, required: true }] },
    securitySchemes: { [word.slice(0, 900)]: { apiKeySecurityScheme: { name: 'k', location: 'header' } } },
    skills: [{ id: 's', name: word, description: 's', tags: [word], examples: [word] }],
    securityRequirements: undefined,
  } as unknown as JsonObject
}

describeInBrowser('the page of a card in a browser', browser => {
  let host: OwnHost
  beforeAll(async () => {
    // Every card has the signatures of this host, too.
    host = await startHost({ SIGNING_KEY: JSON.stringify(makeSigningKey()) }, { assets: true })
    const put = async (id: string, card: Json) => {
      const response = await host.put(id, { card })
      if (!response.ok) throw new Error(`${id}: ${await response.text()}`)
    }
    await put('weather', agentCard('https://agent.test'))
    await put('complete', complete)
    await put('markup', withText(markup, `${markup}\u0001\u001b[31m\u009b\n\t`))
    await put('words', longWords())
  })
  afterAll(() => host.close())

  const urlOf = (path: string): string => new URL(path, host.url).href

  /** Opens a page, and collects what would show that a script ran or was kept from running. */
  const watch = async (page: Page, path: string): Promise<string[]> => {
    const problems: string[] = []
    page.on('dialog', dialog => {
      problems.push(dialog.message())
      void dialog.dismiss()
    })
    page.on('console', message => void (message.type() === 'error' && problems.push(message.text())))
    page.on('pageerror', error => void problems.push(error.message))
    page.on(
      'request',
      request => void (new URL(request.url()).origin !== host.url.origin && problems.push(request.url())),
    )
    await page.goto(urlOf(path), { waitUntil: 'load' })
    return problems
  }

  it.each(['weather', 'complete', 'markup', 'words'])(
    'of %s is accessible in light and dark, and fits into narrow and wide windows',
    async id => {
      const page = await browser.open()
      const problems = await watch(page, `/agents/${id}`)
      for (const [colorScheme, width, rules] of [
        ['light', 320, 'all'],
        ['dark', 1280, 'style'],
      ] as const) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 800 })
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        expect(await findViolations(page, rules), colorScheme).toStrictEqual([])
      }
      expect(problems).toStrictEqual([])
    },
  )

  it('names the signer of the card, and the SDKs that accept it', async () => {
    const page = await browser.open({ javaScriptEnabled: false })
    await page.goto(urlOf('/agents/weather'))
    const { keys } = (await (await fetch(urlOf('/.well-known/jwks.json'))).json()) as { keys: { kid: string }[] }
    await page.getByRole('link', { name: 'Signed by this host.' }).click()
    const section = page.getByRole('region', { name: 'Signatures' })
    expect(await section.textContent()).toContain(`Signed by this host with the key ${keys[0]?.kid} (ES256)`)
    const accepted = await section.getByRole('listitem').filter({ hasText: 'accepts the card' }).allTextContents()
    expect(accepted).toEqual(expect.arrayContaining(['the rule of A2A 1.0 §8.4.1: accepts the card.']))
  })

  it('shows a hostile card as text', async () => {
    const page = await browser.open()
    const problems = await watch(page, '/agents/markup')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(markup)
    expect(
      await page
        .locator(
          'main :is(script:not([src^="/assets/"]), img, iframe, object, form, textarea, [onload], [onerror], [autofocus])',
        )
        .count(),
    ).toBe(0)
    const links = (await page.evaluate(
      'Array.from(document.querySelectorAll("main a"), ({ href, rel, origin }) => ({ href, rel, origin }))',
    )) as { href: string; rel: string; origin: string }[]
    for (const { href, rel, origin } of links) {
      expect(href).toMatch(/^https?:/)
      if (origin !== host.url.origin) expect(rel).toBe('noopener nofollow ugc')
    }
    expect(await page.getByText('\ufffd[31m').count()).toBeGreaterThan(0)
    await page.getByRole('link', { name: 'Telex' }).click()
    await page.getByText('The card in Telex').waitFor({ state: 'attached' })
    expect([problems, await page.evaluate('typeof pwned')]).toStrictEqual([[], 'undefined'])
  })

  it('copies the address of the card, an endpoint and a snippet', async () => {
    const page = await browser.open({ permissions: ['clipboard-read', 'clipboard-write'] })
    await page.goto(urlOf('/agents/weather'))
    const copied = async (button: string): Promise<unknown> => {
      await page.getByRole('button', { name: button }).click()
      await page.getByText('Copied', { exact: true }).first().waitFor()
      expect(await page.locator('#status').textContent()).toBe('Copied')
      return page.evaluate('navigator.clipboard.readText()')
    }
    expect(await copied('Copy card URL')).toBe(urlOf('/agents/weather/.well-known/agent-card.json'))
    expect(await copied('Copy endpoint 2')).toBe('https://agent.test/rpc-0')
    expect(await copied('Copy curl')).toMatch(/^curl -sS 'https:\/\/agent\.test\/rpc-1' \\\n/)
    expect(JSON.parse(String(await copied('Copy JSON')))).toStrictEqual(
      await (await fetch(urlOf('/agents/weather?dialect=1.0'))).json(),
    )
    await page.getByRole('button', { name: 'Copy card URL' }).waitFor()
  })

  it('switches the representation without loading the page again, and back', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/agents/weather'))
    await page.evaluate('globalThis.isSame = true')
    const code = page.getByRole('region', { name: /^The card in/ })
    await page.getByRole('link', { name: 'SuperX' }).click()
    await page.getByRole('region', { name: 'The card in SuperX' }).waitFor()
    expect(JSON.parse((await code.textContent()) ?? '')).toStrictEqual(
      await (await fetch(urlOf('/agents/weather?dialect=superx'))).json(),
    )
    expect(new URL(page.url()).search).toBe('?view=superx')
    expect(await page.getByRole('link', { name: 'Open the raw document' }).getAttribute('href')).toBe(
      '/agents/weather/.well-known/agent-card.json?dialect=superx',
    )
    expect(await page.evaluate('document.activeElement.textContent')).toBe('SuperX')
    await page.goBack()
    await page.getByRole('region', { name: 'The card in A2A 1.0' }).waitFor()
    expect(await page.evaluate('isSame')).toBe(true)
  })

  it('keeps the representation that was chosen last, whichever arrives first', async () => {
    const page = await browser.open()
    await page.goto(urlOf('/agents/weather'))
    let release = (): void => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    await page.route('**/*view=telex', async route => {
      await released
      await route.continue()
    })
    const late = page.waitForResponse('**/*view=telex')
    await page.getByRole('link', { name: 'Telex' }).click()
    await page.getByRole('link', { name: 'SuperX' }).click()
    await page.getByRole('region', { name: 'The card in SuperX' }).waitFor()
    release()
    await (await late).finished()
    await page.evaluate('fetch("/favicon.svg", { cache: "no-store" }).then(response => response.text())')
    expect(await page.getByRole('region', { name: 'The card in SuperX' }).count()).toBe(1)
    expect(await page.locator('#status').textContent()).toBe('The card in SuperX')
  })

  it('works without JavaScript, which alone needs buttons to copy', async () => {
    const page = await browser.open({ javaScriptEnabled: false })
    await page.goto(urlOf('/agents/weather'))
    expect(await page.getByRole('button').count()).toBe(0)
    await page.getByRole('link', { name: 'A2A 0.3' }).click()
    await page.getByRole('region', { name: 'The card in A2A 0.3' }).waitFor()
    await page.getByText('Python', { exact: true }).click()
    expect(await page.getByRole('region', { name: 'Python' }).isVisible()).toBe(true)
    expect(await page.getByRole('region', { name: 'curl' }).isVisible()).toBe(false)
  })

  it('paints after two requests, and moves nothing afterwards', async () => {
    const page = await browser.open({ viewport: { width: 320, height: 640 } })
    const requested: string[] = []
    page.on('request', request => void requested.push(request.resourceType()))
    await page.goto(urlOf('/agents/complete'), { waitUntil: 'load' })
    expect(requested.filter(type => type === 'document' || type === 'stylesheet')).toHaveLength(2)
    expect(await page.locator('script[src]:not([type=module])').count()).toBe(0)
    const shift = `new Promise(resolve => new PerformanceObserver((list, observer) => {
      observer.disconnect()
      resolve(list.getEntries().reduce((sum, { value = 0 }) => sum + value, 0))
    }).observe({ type: 'layout-shift', buffered: true }) || requestAnimationFrame(() => requestAnimationFrame(() => resolve(0))))`
    expect(await page.evaluate(shift)).toBe(0)
  })
})

import { beforeAll, expect, it } from 'vitest'
import { CARD_COLORS } from '../../../src/pages/images/card-image.ts'
import { describeInBrowser } from '../../support/browser.ts'
import { bilingualCard } from '../../support/cards/cards.ts'
import { sharedHost } from '../../support/host.ts'

const host = sharedHost()

/** Returns a color as browsers write it. */
const toRgb = (hex: string): string => {
  const [red, green, blue] = (hex.match(/[\da-f]{2}/g) ?? []).map(part => Number.parseInt(part, 16))
  return `rgb(${red}, ${green}, ${blue})`
}

describeInBrowser('the pictures of an agent in a browser', browser => {
  const urlOf = (path: string): string => new URL(path, host.url).href
  beforeAll(async () => {
    await host.put('in-browser', { ...bilingualCard, name: 'Seen <script>alert(1)</script>' })
  })

  it.each([
    ['light', 0],
    ['dark', 1],
  ] as const)('have the colors of the reader, and break no rule of their policy: %s', async (colorScheme, mode) => {
    const page = await browser.open({ colorScheme })
    const problems: string[] = []
    page.on('console', message => void problems.push(message.text()))
    page.on('dialog', dialog => void problems.push(dialog.message()))
    await page.goto(urlOf('/agents/in-browser/card.svg'))
    expect(await page.evaluate("getComputedStyle(document.querySelector('.surface')).fill")).toBe(
      toRgb(CARD_COLORS.surface[mode]),
    )
    await page.goto(urlOf('/agents/in-browser/badge.svg'))
    expect(await page.evaluate('document.title')).toBe('A2A: 1.0, 0.3')
    expect(problems).toEqual([])
  })

  it('are embedded in a page of another origin, in their own size', async () => {
    const page = await browser.open()
    const images = ['card.svg', 'badge.svg'].map(file => `<img src="${urlOf(`/agents/in-browser/${file}`)}">`)
    await page.setContent(images.join(''), { waitUntil: 'load' })
    const heights = 'Array.from(document.images, ({ naturalHeight }) => naturalHeight)'
    expect(await page.evaluate(heights)).toEqual([320, 20])
  })
})

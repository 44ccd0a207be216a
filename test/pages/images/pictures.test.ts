import fc from 'fast-check'
import jsQR from 'jsqr'
import { describe, expect, it } from 'vitest'
import type { AgentCard } from '../../../src/card/model/agent-card.ts'
import type { Receipt } from '../../../src/card/model/receipt-format.ts'
import { BADGE_COLORS, checkedSegment, declaredVersions, renderBadge } from '../../../src/pages/images/badge.tsx'
import {
  arrangeChips,
  type BusinessCard,
  CARD_COLORS,
  CARD_STYLE,
  renderBusinessCard,
} from '../../../src/pages/images/card-image.tsx'
import { MONOGRAM_COLORS, monogramOf } from '../../../src/pages/images/monogram.tsx'
import { bilingualCard } from '../../support/cards/cards.ts'
import { receiptOf } from '../../support/registrations.ts'
import { parseSvg, type SvgElement, textsOf } from './svg.ts'

const url = 'https://cards.example.com/agents/weather'

const toSkill = (name: string) => ({ id: 'skill', name, description: 'Does it', tags: ['tag'] })
const toInterfaces = (versions: readonly string[]) =>
  versions.map(protocolVersion => ({ url: 'https://a.example', protocolBinding: 'JSONRPC', protocolVersion }))

const drawCard = async (card: Partial<AgentCard>, more: Partial<BusinessCard> = {}): Promise<SvgElement[]> =>
  parseSvg(String(await renderBusinessCard({ id: 'weather', card: { ...bilingualCard, ...card }, url, ...more })))

const drawBadge = async (versions: readonly string[]): Promise<SvgElement[]> =>
  parseSvg(String(await renderBadge({ supportedInterfaces: toInterfaces(versions) })))

const hostileTexts = [
  '<script>alert(1)</script>',
  '</text><script>alert(1)</script>',
  '</style></svg><svg onload="alert(1)">',
  '" onload="alert(1)" x="',
  "' onload='alert(1)",
  '<![CDATA[<script>]]>',
  ']]>',
  '<!-- -->',
  '<!DOCTYPE svg [<!ENTITY a "b">]>&a;',
  '<?xml version="1.0"?>',
  '&amp;&lt;&#0;&unknown;',
  'javascript:alert(1)',
  'url(https://evil.example/)',
  '\u0000\u0001\u0008\u000b\u000c\u001f\u007f\ufffe\uffff\ud800',
  '\u202eevil\u2066',
  'W'.repeat(16_384),
  '\u0301'.repeat(16_384),
  '👨‍👩‍👧‍👦'.repeat(2000),
  '\u200b'.repeat(16_384),
]
const anyText = fc.oneof(fc.constantFrom(...hostileTexts), fc.string({ unit: 'grapheme', maxLength: 200 }))

/** What pictures are drawn with. Links, images, scripts and foreign content are not among it. */
const harmless = new Set(['svg', 'title', 'desc', 'style', 'g', 'rect', 'path', 'text', 'clipPath'])

const expectHarmless = (elements: readonly SvgElement[]): void => {
  expect(elements.filter(({ name }) => !harmless.has(name))).toEqual([])
  const attributes = elements.flatMap(({ attributes }) => Object.entries(attributes))
  expect(attributes.filter(([name]) => /^on|href|^style$|^xmlns:/i.test(name))).toEqual([])
  expect(
    attributes.filter(([name, value]) => name !== 'xmlns' && /https?:|url\((?!#badge\))|NaN|undefined/.test(value)),
  ).toEqual([])
  expect(elements[0]?.attributes).toMatchObject({ role: 'img' })
  expect(elements.slice(1, 3).map(({ name }) => name)).toEqual(['title', 'desc'])
  expect(textsOf('title', elements)).toEqual([expect.stringMatching(/\S/)])
}

/** Returns the texts of a business card that are drawn, by their size of font. */
const drawnTexts = (elements: readonly SvgElement[]): Record<string, string[]> => {
  const texts: Record<string, string[]> = {}
  let size = ''
  for (const { name, attributes, text } of elements) {
    size = attributes['font-size'] ?? size
    if (name === 'text') texts[size] = [...(texts[size] ?? []), text]
  }
  return texts
}

describe('the business card', () => {
  it('shows name, organization, tagline, skills, address and versions', async () => {
    const elements = await drawCard({
      name: 'Weather Agent',
      description: 'Forecasts for any place. And much more.',
      provider: { organization: 'Example Inc.', url: 'https://example.com' },
      skills: [toSkill('Forecast'), toSkill('Alerts')],
    })
    expect(textsOf('text', elements)).toEqual([
      ...['WA', 'Weather Agent', 'Example Inc.', 'Forecasts for any place.', 'Forecast', 'Alerts'],
      ...['cards.example.com/agents/weather', 'A2A 1.0, 0.3'],
    ])
    expect(textsOf('title', elements)).toEqual(['Weather Agent'])
    expect(textsOf('desc', elements)).toEqual([`Forecasts for any place. Skills: Forecast, Alerts. QR code: ${url}`])
  })

  it('shows the id for a name without visible characters, and no empty line for a missing organization', async () => {
    const elements = await drawCard({ name: '\u200b', description: 'Talks', skills: [toSkill('Talk')] })
    expect(textsOf('text', elements)).toEqual(['W', 'weather', 'Talks', 'Talk', expect.any(String), expect.any(String)])
  })

  it('shows hostile text as text', async () => {
    for (const text of hostileTexts) {
      const all = {
        name: text,
        description: text,
        provider: { organization: text },
        skills: Array(6).fill(toSkill(text)),
      }
      const elements = await drawCard({ ...all, supportedInterfaces: toInterfaces([text]) })
      expectHarmless(elements)
      expect(textsOf('style', elements)).toEqual([CARD_STYLE])
      expect(JSON.stringify(elements).length).toBeLessThan(32 * 1024)
      expectHarmless(await drawBadge([text, text]))
    }
  })

  it('draws a name of 16 KiB in two lines, and a description of three', async () => {
    const elements = await drawCard({ name: 'W'.repeat(16_384), description: 'word '.repeat(5000) })
    const { 24: name = [], 15: tagline = [] } = drawnTexts(elements)
    expect([name.length, tagline.length]).toEqual([2, 3])
    expect([name.at(-1), tagline.at(-1)]).toEqual([expect.stringMatching(/W…$/), expect.stringMatching(/ w\S*…$/)])
  })

  it('is mirrored for a name from right to left', async () => {
    for (const [name, expected] of [
      ['Weather', { monogram: 28, anchors: ['start', 'start'] }],
      ['وكيل الطقس', { monogram: 548, anchors: ['start', 'end'] }],
    ] as const) {
      const elements = await drawCard({ name, description: 'Forecasts' })
      const boxes = elements.filter(({ attributes }) => ['24', '15'].includes(attributes['font-size'] ?? ''))
      expect(
        {
          monogram: Number(elements.find(({ attributes }) => attributes['aria-hidden'])?.attributes.x),
          anchors: boxes.map(({ attributes }) => attributes['text-anchor']),
        },
        name,
      ).toEqual(expected)
      expect(boxes[0]?.attributes.direction).toBe(name === 'Weather' ? 'ltr' : 'rtl')
    }
  })
})

describe('the skills of a business card', () => {
  it('are in two rows that they do not leave, the rest counted in the last chip', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 40 }), fc.nat({ max: 500 }), (names, others) => {
        const total = names.length === 40 ? 40 + others : names.length
        const chips = arrangeChips({ names, total })
        const [, more] = /^\+(\d+)$/.exec(chips.at(-1)?.label ?? '') ?? []
        if (chips.length < total || more !== undefined) {
          expect(Number(more) + chips.length - 1).toBe(total)
        } else expect(chips).toHaveLength(total)
        chips.forEach(({ x, row, width }, index) => {
          const last = chips[index - 1]
          expect([0, 1]).toContain(row)
          expect(x + width).toBeLessThanOrEqual(584)
          if (last?.row === row) expect(x).toBeGreaterThan(last.x + last.width)
        })
      }),
    )
  })

  it('make room for the count', () => {
    const names = Array(40).fill('A skill of a certain length')
    expect(arrangeChips({ names, total: 500 }).map(({ label }) => label)).toEqual([...names.slice(0, 4), '+496'])
  })
})

/** Draws the QR code of a business card as a camera sees it: `scale` pixels for each module. */
const photograph = (elements: readonly SvgElement[], scale: number) => {
  const path = elements.find(({ attributes }) => attributes['shape-rendering'] === 'crispEdges')?.attributes.d ?? ''
  const box = elements.find(({ attributes }) => attributes.width === '152' && attributes.viewBox !== undefined)
  const size = Number(box?.attributes.viewBox?.split(' ')[2])
  const side = size * scale
  const pixels = new Uint8ClampedArray(4 * side * side).fill(255)
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    for (let row = Number(y) * scale; row < (Number(y) + 1) * scale; row++)
      for (let column = Number(x) * scale; column < (Number(x) + Number(length)) * scale; column++)
        pixels.fill(0, 4 * (row * side + column), 4 * (row * side + column) + 3)
  return { pixels, side, size }
}

describe('the QR code of a business card', () => {
  it('leads to the URL, in modules of two pixels at least', async () => {
    for (const [name, address] of [
      ['short', url],
      ['with the longest id and host name', `https://${'a.'.repeat(123)}example/agents/${'a'.repeat(63)}`],
    ] as const) {
      const { pixels, side, size } = photograph(await drawCard({}, { url: address }), 4)
      expect(jsQR(pixels, side, side)?.data, name).toBe(address)
      expect(152 / size).toBeGreaterThanOrEqual(2)
    }
  })
})

describe('the badge', () => {
  it('lists the versions of interfaces once, the newest first', async () => {
    for (const [versions, text] of [
      [['1.0', '0.3'], '1.0, 0.3'],
      [['0.3', '1.0', '1.0', '0.3.0'], '1.0, 0.3'],
      [['0.2.5', '0.10', '0.9', '10.0'], '10.0, 0.10, 0.9, 0.2'],
      [['latest', '1.0'], '1.0, latest'],
      [[], 'none'],
    ] as const) {
      const elements = await drawBadge(versions)
      expect(textsOf('text', elements), JSON.stringify(versions)).toEqual(['A2A', text])
      expect(textsOf('title', elements)).toEqual([`A2A: ${text}`])
      expectHarmless(elements)
    }
  })

  it('does not list versions of MCP', () => {
    const interfaces = [
      { url: 'https://a.example', protocolBinding: 'MCP', protocolVersion: '2025-06-18' },
      ...toInterfaces(['1.0']),
    ]
    expect(declaredVersions(interfaces)).toEqual(['1.0'])
  })

  it('is as wide as its text, to a limit', async () => {
    const widths = await Promise.all(
      [['1.0'], ['1.0', '0.3'], ['W'.repeat(16_384)]].map(async versions =>
        Number((await drawBadge(versions))[0]?.attributes.width),
      ),
    )
    expect(widths).toEqual(widths.toSorted((one, other) => one - other))
    expect(widths.at(-1)).toBeLessThan(420)
  })
})

describe('the badge with what a check has shown', () => {
  const now = Date.parse('2026-11-23T01:00:00Z')
  const draw = async (receipt: Receipt | undefined, etag: string) =>
    parseSvg(
      String(await renderBadge({ supportedInterfaces: toInterfaces(['1.0']) }, checkedSegment(receipt, etag, now))),
    )
  const { receipt } = receiptOf('weather')
  const allPassed = { ...receipt, summary: { ...receipt.summary, failed: 0 } }

  it('has a third part', async () => {
    const rows: [string, Receipt | undefined, string, string, string?][] = [
      ['failures', receipt, '2 passed, 1 failed yesterday', BADGE_COLORS.failed],
      ['none', allPassed, '2 passed yesterday', BADGE_COLORS.passed],
      ['a check of today', { ...allPassed, checked: '2026-11-23T00:00:00Z' }, '2 passed today', BADGE_COLORS.passed],
      [
        'a clock that is ahead',
        { ...allPassed, checked: '2026-12-01T00:00:00Z' },
        '2 passed today',
        BADGE_COLORS.passed,
      ],
      ['no check', undefined, 'not tested', BADGE_COLORS.unchecked],
      ['another card', receipt, '2 passed, 1 failed, older card', BADGE_COLORS.unchecked, '"def"'],
    ]
    for (const [name, given, text, color, etag = receipt.card.etag] of rows) {
      const elements = await draw(given, etag)
      expectHarmless(elements)
      expect(textsOf('text', elements), name).toEqual(['A2A', '1.0', text])
      expect(elements.filter(({ name }) => name === 'path').at(-1)?.attributes.fill).toBe(color)
      expect(textsOf('title', elements)).toEqual([`A2A: 1.0; ${text}`])
    }
  })
})

describe('the monogram', () => {
  it('has the initials of the name', () => {
    for (const [name, initials] of [
      ['Weather Agent', 'WA'],
      ['research assistant for papers', 'RA'],
      ['code-review', 'CR'],
      ['  «Élan»  ', 'É'],
      ['天気 予報', '天'],
      ['وكيل الطقس', 'و'],
      ['ผู้ช่วย', 'ผู้'],
      ['🌦️ Weather', 'W'],
      ['🌦️', '🌦️'],
      ['\u200b', 'I'],
      ['WW', 'W'],
      ['\ufdfd', 'I'],
      ['\u1100'.repeat(99), 'I'],
    ] as const)
      expect(monogramOf({ id: 'id', name }).initials, JSON.stringify(name)).toBe(initials)
  })

  it('has a color that depends on the id only, and all colors occur', () => {
    const colors = Array.from({ length: 300 }, (_, index) => monogramOf({ id: `agent-${index}`, name: 'A' }).color)
    expect(new Set(colors)).toEqual(new Set(MONOGRAM_COLORS))
    expect(monogramOf({ id: 'agent-7', name: 'Other' }).color).toBe(colors[7])
  })
})

/** Returns the contrast of two colors (WCAG 2.2). */
const contrast = (one: string, other: string): number => {
  const [lighter = 0, darker = 0] = [one, other].map(luminance).sort((a, b) => b - a)
  return (lighter + 0.05) / (darker + 0.05)
}

const luminance = (color: string): number => {
  const hex = color.length === 4 ? color.replace(/[\da-f]/g, '$&$&') : color
  const [red = 0, green = 0, blue = 0] = (hex.match(/[\da-f]{2}/g) ?? [])
    .map(part => Number.parseInt(part, 16) / 255)
    .map(value => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

describe('the contrast', () => {
  const { surface, chip, text, muted, accent } = CARD_COLORS
  const ofCards = [0, 1].flatMap(mode =>
    [
      [text, surface],
      [muted, surface],
      [accent, surface],
      [text, chip],
    ].map(pair => pair.map(both => both[mode] ?? '')),
  )
  const names = ['label', 'value', 'passed', 'failed', 'unchecked'] as const
  const ofBadges = names.map(name => [BADGE_COLORS.text, BADGE_COLORS[name]])
  it('is at least 4.5', () => {
    for (const [one = '', other = ''] of [...ofCards, ...ofBadges, ...MONOGRAM_COLORS.map(color => ['#fff', color])])
      expect(contrast(one, other), `${one} on ${other}`).toBeGreaterThanOrEqual(4.5)
  })
})

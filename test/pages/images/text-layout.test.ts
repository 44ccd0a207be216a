import { describe, expect, it } from 'vitest'
import {
  firstSentence,
  fitLine,
  graphemes,
  isRightToLeft,
  lineWidth,
  toLine,
  wrapLine,
} from '../../../src/pages/images/text-layout.ts'

const family = '👨‍👩‍👧‍👦'
const england = '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'

describe('toLine', () => {
  it('removes what has no place in a line', () => {
    for (const [name, text, line] of [
      ['line breaks and runs of spaces', ' a\r\n\tb\u2028 \u3000c ', 'a b c'],
      ['control characters', 'a\u0000\u0007\u001b\u007f\u009fb', 'ab'],
      ['halves of characters', 'a\ud83c!', 'a\ufffd!'],
      ['characters that are none', 'a\ufffe\uffffb', 'ab'],
      ['invisible characters', '\ufeffa\u00ad\u200b\u2060\u3164b', 'ab'],
      ['a space on each side of what is removed', 'a \u200b b', 'a b'],
      ['bidi embeddings, overrides and isolates', '\u202egpj.exe\u202c\u2066\u2069', 'gpj.exe'],
      ['a text of nothing else', '\u200b\u2060 \n', ''],
      ['a long text of nothing else', '\u200b'.repeat(16_384), ''],
    ] as const)
      expect(toLine(text), name).toBe(line)
  })

  it('keeps characters that are several code points', () => {
    for (const [name, text] of [
      ['an emoji of several people', family],
      ['a flag of tags', england],
      ['an emoji with a variation selector', '☀\ufe0f'],
      ['joiners of Persian', 'می\u200cخواهم'],
      ['the marks of Burmese', 'ကျွှို့'],
      ['marks of direction', 'C++\u200e'],
      ['an ideograph with a variation selector', '葛\u{e0100}'],
    ] as const)
      expect(toLine(text), name).toBe(text)
  })

  it('keeps eight marks of a run', () => {
    expect(toLine(`a${'\u0301'.repeat(1000)}b`)).toBe(`a${'\u0301'.repeat(8)}b`)
  })

  it('reads a bounded part of a text, and marks that it ends early', () => {
    expect(toLine('a'.repeat(1024))).toBe('a'.repeat(1024))
    expect(toLine(`${'a'.repeat(1023)}🌦`)).toBe(`${'a'.repeat(1022)}…`)
    const line = toLine(family.repeat(100_000))
    expect(line.length).toBeLessThan(1100)
    expect(new Set(graphemes(line.replace(/…$/, '')))).toEqual(new Set([family]))
    expect(line.endsWith('…')).toBe(true)
  })
})

describe('firstSentence', () => {
  it('ends at the first end of a sentence, in any script', () => {
    for (const [text, sentence] of [
      ['Finds flights. Books them too.', 'Finds flights.'],
      ['Reads version 1.0 of cards, e.g. yours. And more.', 'Reads version 1.0 of cards, e.g. yours.'],
      ['Really? Yes.', 'Really?'],
      ['天気を予報します。警報もあります。', '天気を予報します。'],
      ['यह मौसम बताता है। और भी।', 'यह मौसम बताता है।'],
      ['\n\nWeather\n\nAnd more.', 'Weather'],
      ['One line\nand another.', 'One line and another.'],
      ['', ''],
    ] as const)
      expect(firstSentence(text), JSON.stringify(text)).toBe(sentence)
  })
})

describe('lineWidth', () => {
  it('measures characters as readers see them', () => {
    for (const [name, text, min, max] of [
      ['letters of Latin', 'Weather', 4, 5],
      ['ideographs', '天気予報', 4, 4.5],
      ['an emoji of several people as one', family, 1.2, 1.5],
      ['a letter with marks as the letter', 'a\u0301\u0302\u0303', 0.5, 0.7],
      ['no character', '', 0, 0],
    ] as const) {
      expect(lineWidth(text), name).toBeGreaterThanOrEqual(min)
      expect(lineWidth(text)).toBeLessThanOrEqual(max)
    }
  })

  it('measures wide letters as wider than narrow ones', () => {
    expect(lineWidth('WWW')).toBeGreaterThan(2 * lineWidth('iii'))
  })
})

describe('wrapLine', () => {
  it('breaks lines where each script does', () => {
    for (const [name, text, width, lines, expected] of [
      ['a text that fits', 'Weather', 10, 2, ['Weather']],
      ['a text without characters', '', 10, 2, []],
      ['words between them', 'Weather and more', 8, 2, ['Weather and', 'more']],
      ['a long word within it', 'Wwwwwwwwwwww', 6, 3, ['Wwwwww', 'wwwwww']],
      ['a long word after another', 'we wwwwwwwwwwww', 6, 3, ['we', 'wwwwww', 'wwwwww']],
      ['words at hyphens', 'Baden-Baden', 5, 2, ['Baden-', 'Baden']],
      ['ideographs anywhere', '天気予報', 3, 2, ['天気', '予報']],
      ['no line before a closing mark', '天気予報。', 4.3, 2, ['天気', '予報。']],
      ['no line after an opening mark', '天気「予報」', 4.3, 2, ['天気', '「予報」']],
      ['Latin between words only', 'an agent(now)', 6.2, 2, ['an', 'agent(now)']],
      ['Thai between words', 'ผู้ช่วยอากาศ', 4.5, 2, ['ผู้ช่วย', 'อากาศ']],
      ['what is longer with an ellipsis', 'Weather and much more', 8, 1, ['Weather and…']],
      ['what is longer without a space before the ellipsis', 'Weather - more', 6.2, 1, ['Weather…']],
      ['a character that is wider than a line as an ellipsis', '﷽﷽', 4, 2, ['…']],
    ] as const)
      expect(wrapLine(text, width, lines), name).toEqual(expected)
  })
})

describe('fitLine', () => {
  it('returns the part that fits', () => {
    for (const [text, fitting] of [
      ['Echo', 'Echo'],
      ['Echo of the agent', 'Echo of…'],
      [family.repeat(9), `${family.repeat(3)}…`],
    ] as const)
      expect(fitLine(text, 5.5), JSON.stringify(text)).toBe(fitting)
  })
})

describe('isRightToLeft', () => {
  it('finds the first character with a direction', () => {
    for (const [text, expected] of [
      ['Weather', false],
      ['סוכן', true],
      ['وكيل', true],
      ['12 🌦️ وكيل Weather', true],
      ['Weather وكيل', false],
      ['\u200fWeather', true],
      ['\u200eوكيل', false],
      ['', false],
    ] as const)
      expect(isRightToLeft(text), JSON.stringify(text)).toBe(expected)
  })
})

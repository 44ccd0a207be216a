import { describe, expect, it } from 'vitest'
import { appendVia } from '../../src/gateway/upstream-request.ts'

const hops = (count: number) => Array.from({ length: count }, (_, hop) => `1.1 hop${hop}`).join(', ')

describe('Via', () => {
  it.each([
    [null, '1.1 weather.cards.example.com'],
    ['', '1.1 weather.cards.example.com'],
    ['2 edge', '2 edge, 1.1 weather.cards.example.com'],
    ['1.1 news.cards.example.com', '1.1 news.cards.example.com, 1.1 weather.cards.example.com'],
    ['1.1 my-weather.cards.example.com', '1.1 my-weather.cards.example.com, 1.1 weather.cards.example.com'],
    [hops(9), `${hops(9)}, 1.1 weather.cards.example.com`],
  ])('of %j names this hop last', (before, after) => {
    expect(appendVia(before, 'weather.cards.example.com')).toBe(after)
  })

  it.each([
    ['1.1 weather.cards.example.com'],
    ['HTTP/2 WEATHER.cards.example.com (Calling Card)'],
    ['1.1 news.cards.example.com,1.1 weather.cards.example.com,1.1 edge'],
    [hops(10)],
    [','.repeat(10)],
  ])('tells that a call was here before, or has come too far: %s', via => {
    expect(appendVia(via, 'weather.cards.example.com')).toBeUndefined()
  })
})

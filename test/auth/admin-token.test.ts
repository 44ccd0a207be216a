import { describe, expect, it } from 'vitest'
import { containsAdminToken, isAdminTokenMissing } from '../../src/auth/token.ts'

const long = 'a'.repeat(16)
const short = 'dev'

describe('the ADMIN_TOKEN', () => {
  it.each([
    [long, 'https://cards.example.com/'],
    [long, 'http://127.0.0.1:8787/agents'],
    [short, 'http://127.0.0.1:8787/agents'],
    [short, 'http://127.0.0.1/'],
    [short, 'http://localhost:8787/'],
    [short, 'http://[::1]:8787/'],
  ])('is taken: %s at %s', (ADMIN_TOKEN, url) => {
    expect(isAdminTokenMissing(new Request(url), { ADMIN_TOKEN })).toBe(false)
  })

  it.each([
    ['', 'http://localhost/'],
    [short, 'https://cards.example.com/'],
    [long.slice(1), 'https://cards.example.com/'],
    [short, 'https://localhost.example.com/'],
    [short, 'http://127.0.0.1.example.com/'],
    [short, 'https://cards.example.com/http://localhost/'],
  ])('is none, being guessed: "%s" at %s', (ADMIN_TOKEN, url) => {
    expect(isAdminTokenMissing(new Request(url), { ADMIN_TOKEN })).toBe(true)
  })

  it.each([
    ['Bearer dev', true],
    ['dev', true],
    ['Bearer: dev', true],
    ['Token token="dev"', true],
    ['u:dev', true],
    ['Bearer device', false],
    ['Bearer eyJhbGciOi.dev', false],
  ])('that is short is looked for in whole words: %s, %s', (text, holds) => {
    expect(containsAdminToken(text, { ADMIN_TOKEN: short })).toBe(holds)
  })
})

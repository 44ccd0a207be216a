import { describe, expect, it } from 'vitest'
import { isJsonObject, type Json } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { compiled, refusal } from '../../support/cards/compile.ts'
import { corpus, type Found, hasReference, skipped } from '../../support/cards/reference.ts'
import { hybridErrors, versionErrors } from '../../support/schemas/index.ts'

const a2a = /^(?:v0|v1|hybrid|superx|telex|gopherhole|shaman)/

const document = ({ text }: Found): Json | undefined => {
  const parsed = parseJson(text)
  return 'value' in parsed ? parsed.value : undefined
}

/** Whether a document of an A2A dialect says where its agent is, read as plainly as can be. */
const hasEndpoint = (found: Found): boolean => {
  const card = document(found)
  if (!a2a.test(found.dialect) || !isJsonObject(card)) return false
  const listed = Array.isArray(card.supportedInterfaces) ? card.supportedInterfaces[0] : undefined
  const url = isJsonObject(listed) ? listed.url : card.url
  return typeof url === 'string' && /^https?:\/\/[^{}<>]+$/.test(url)
}

const cards = corpus.filter(hasEndpoint)
const others = corpus.filter(found => !hasEndpoint(found))

describe.skipIf(!hasReference)(`the corpus of cards from public repositories${skipped}`, () => {
  it('has 51 files, 26 of them A2A cards with an endpoint', () => {
    expect([corpus.length, cards.length]).toStrictEqual([51, 26])
  })

  it.each(cards)('$file ($dialect) registers, valid in 1.0 and 0.3', found => {
    const { documents } = compiled(document(found) as Json)
    expect([versionErrors(documents), hybridErrors(documents)]).toStrictEqual([[], []])
  })

  it.each(others.filter(found => document(found) === undefined))('$file is refused as not JSON', ({ text }) => {
    expect(parseJson(text)).toMatchObject({
      refused: 'not-json',
      detail: expect.stringMatching(/^This is not JSON\. .+/),
    })
  })

  it.each(others.filter(found => document(found) !== undefined))('$file ($dialect) is refused', found => {
    const errors = refusal(document(found) as Json)
    const says = errors.map(({ pointer, message }) => `${pointer} ${message}`).join('\n')
    expect(says).toMatch(reasons[a2a.test(found.dialect) ? 'a2a' : found.dialect] ?? /never/)
  })
})

/** What a refusal says, by the kind of document: what it is, and which field is missing or wrong. */
const reasons: Record<string, RegExp> = {
  a2a: /placeholder|is relative|not an A2A card[\s\S]*\/url is missing/,
  'erc-8004-registration': /^\/type is an ERC-8004 registration, not an A2A card[\s\S]*is missing/,
  'foreign-agent-json': /^\S+ is .+ not (?:an A2A card|the card of one)[\s\S]*is missing/,
  'urlless-card': /^\/url is missing: add the agent's `url` to the card, or `upstream\.url` to the manifest$/,
}

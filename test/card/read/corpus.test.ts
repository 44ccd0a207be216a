import { describe, expect, it } from 'vitest'
import { isJsonObject, type Json, type JsonObject } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { type CorpusFile, corpus, hasReference, skipNotice } from '../../support/cards/reference.ts'
import { hybridErrors, versionErrors } from '../../support/schemas/index.ts'

const a2a = /^(?:v0|v1|hybrid|superx|telex|gopherhole|shaman)/

/** Whether a document is an A2A card as well as an ERC-8004 registration. */
const isBoth = ({ dialect }: CorpusFile, card: JsonObject): boolean =>
  dialect === 'erc-8004-registration' && Array.isArray(card.skills) && isJsonObject(card.capabilities)

const parseFile = ({ text }: CorpusFile): Json | undefined => {
  const parsed = parseJson(text)
  return 'value' in parsed ? parsed.value : undefined
}

/** Checks, independently of the reader under test, whether a document is an A2A card with the URL of its agent. */
const hasEndpoint = (found: CorpusFile): boolean => {
  const card = parseFile(found)
  if (!isJsonObject(card) || !(a2a.test(found.dialect) || isBoth(found, card))) return false
  const listed = Array.isArray(card.supportedInterfaces) ? card.supportedInterfaces[0] : undefined
  const url = isJsonObject(listed) ? listed.url : card.url
  return typeof url === 'string' && /^https?:\/\/[^{}<>]+$/.test(url)
}

const cards = corpus.filter(hasEndpoint)
const others = corpus.filter(found => !hasEndpoint(found))

describe.skipIf(!hasReference)(`the corpus of cards from public repositories${skipNotice}`, () => {
  it('has 51 files, 28 of them A2A cards with an endpoint', () => {
    expect([corpus.length, cards.length]).toStrictEqual([51, 28])
  })

  it.each(cards)('$file ($dialect) is accepted, and valid in 1.0 and 0.3', found => {
    const { documents } = compileCard(parseFile(found) as Json)
    expect([versionErrors(documents), hybridErrors(documents)]).toStrictEqual([[], []])
  })

  it.each(others.filter(found => parseFile(found) === undefined))(
    '$file is rejected because it is not JSON',
    ({ text }) => {
      expect(parseJson(text)).toMatchObject({
        refused: 'not-json',
        detail: expect.stringMatching(/^This is not JSON\. .+/),
      })
    },
  )

  it.each(others.filter(found => parseFile(found) !== undefined))('$file ($dialect) is rejected', found => {
    const errors = getCompileErrors(parseFile(found) as Json)
    const messages = errors.map(({ pointer, message }) => `${pointer} ${message}`).join('\n')
    expect(messages).toMatch(reasons[a2a.test(found.dialect) ? 'a2a' : found.dialect] ?? /never/)
  })
})

/** The expected errors by the kind of document: what it is, and which field is missing or wrong. */
const reasons: Record<string, RegExp> = {
  a2a: /placeholder|is relative|\/url is missing[\s\S]*\/capabilities names "[^"]+", which is not a capability/,
  'erc-8004-registration': /^\/type is an ERC-8004 registration, not an A2A card[\s\S]*is missing/,
  'foreign-agent-json':
    /^\S+ is .+ not (?:an A2A card|the card of one)(?:: register the card that it links to at|[\s\S]*is missing)|^\/capabilities (?:names "JWT inspection and decoding"|must be an object of flags)/,
  'urlless-card':
    /^\/url is missing: add the agent's `url` to the card, or `upstream\.url` to the manifest(?:$|\n\/capabilities )/,
}

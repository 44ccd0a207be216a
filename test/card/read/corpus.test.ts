import { describe, expect, it } from 'vitest'
import { isJsonObject, type Json, type JsonObject } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { compileCard, getCompileErrors } from '../../support/cards/compile.ts'
import { type CorpusFile, corpus, hasReference } from '../../support/cards/reference.ts'
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

describe('the corpus of documents that are published as cards', () => {
  it('has documents of every kind', () => {
    const [own, published] = [
      [18, 11],
      [51, 28],
    ] as const
    const expected = hasReference ? [own[0] + published[0], own[1] + published[1]] : own
    expect([corpus.length, cards.length]).toEqual(expected)
  })

  it('is accepted where it is a card with an endpoint, and valid in 1.0 and 0.3', () => {
    for (const found of cards) {
      const { documents } = compileCard(parseFile(found) as Json)
      expect([found.file, ...versionErrors(documents), ...hybridErrors(documents)]).toStrictEqual([found.file])
    }
  })

  it('is rejected with the reason otherwise', () => {
    for (const found of others) {
      const document = parseFile(found)
      if (document === undefined)
        expect(parseJson(found.text), found.file).toMatchObject({
          refused: 'not-json',
          detail: expect.stringMatching(/^This is not JSON\. .+/),
        })
      else {
        const messages = getCompileErrors(document).map(({ pointer, message }) => `${pointer} ${message}`)
        const reason = reasons[a2a.test(found.dialect) ? 'a2a' : found.dialect] ?? /never/
        expect(messages.join('\n'), found.file).toMatch(reason)
      }
    }
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

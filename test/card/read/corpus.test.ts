import { describe, expect, it } from 'vitest'
import { isJsonObject, type Json, type JsonObject } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { compileCard } from '../../support/cards/compile.ts'
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
})

import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type RepresentationName, representationNames } from '../../src/card/model/constants.ts'
import { etagsByName, packDocuments, toAgentEnvelope, unpackDocuments } from '../../src/registry/documents.ts'
import type { Representations } from '../../src/registry/kv-format.ts'

const encode = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
/** Returns documents by name; those with the same text are one document. */
const documentsOf = (texts: Partial<Record<RepresentationName, string>>): Representations =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { etag: `"${text}"`, bytes: encode(text) }]))
/** Returns the text and the entity tag of each document by name. */
const read = (documents: Representations) =>
  Object.fromEntries(
    Object.entries(documents).map(([name, { etag, bytes }]) => [name, [etag, new TextDecoder().decode(bytes)]]),
  )

describe('packed documents', () => {
  it('are unpacked as they were, whatever their names and texts are', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }), fc.constant('equal'))
    const documents = fc.uniqueArray(fc.tuple(fc.constantFrom(...representationNames), text), {
      selector: ([name]) => name,
      minLength: 1,
    })
    fc.assert(
      fc.property(documents, entries => {
        const given = documentsOf(Object.fromEntries(entries))
        expect(read(unpackDocuments(packDocuments(given)))).toEqual(read(given))
      }),
    )
  })

  it('have each document once, with all its names', () => {
    const packed = packDocuments(documentsOf({ '1.0': 'one', '0.3': 'other', 'agent.json': 'other' }))
    expect(packed.parts).toEqual([
      [['1.0'], '"one"', 3],
      [['0.3', 'agent.json'], '"other"', 5],
    ])
    expect(etagsByName(packed.parts)).toEqual({ '1.0': '"one"', '0.3': '"other"', 'agent.json': '"other"' })
    const { '0.3': first, 'agent.json': second } = unpackDocuments(packed)
    expect(first?.bytes).toBe(second?.bytes)
  })

  it('have no rest of a buffer, which would be sent to the Registry, too', () => {
    for (const length of [1, 3000, 500_000]) {
      const { body } = packDocuments(documentsOf({ '1.0': randomBytes(length).toString('hex') }))
      expect([length, body.buffer.byteLength]).toEqual([length, body.byteLength])
    }
  })

  it('take less space than one of them, if they have nearly all in common', () => {
    const common = randomBytes(1000).toString('base64')
    const names: RepresentationName[] = ['1.0', '0.3', 'agent.json', 'agent-card.json']
    const texts = Object.fromEntries(names.map(name => [name, JSON.stringify({ name, common })]))
    expect(packDocuments(documentsOf(texts)).body.byteLength).toBeLessThan(common.length)
  })

  it('fit in a row with five large documents, which have a text in common that cannot be compressed', () => {
    // Text of base64 has 6 bits in a byte: packed, one document takes 525 KB, and five of them 2.6 MB.
    const common = randomBytes(525_000).toString('base64')
    const names = representationNames.slice(0, 5)
    const documents = documentsOf(Object.fromEntries(names.map(name => [name, JSON.stringify({ name, common })])))
    const packed = packDocuments(documents)
    expect([names.length, packed.parts.length, common.length]).toEqual([5, 5, 700_000])
    expect(packed.body.byteLength).toBeLessThan(1_900_000)
    expect(read(unpackDocuments(packed))).toEqual(read(documents))
  })

  it('are refused if their body is cut off, or does not have the length of the parts', () => {
    const { parts, body } = packDocuments(documentsOf({ '1.0': 'one document', '0.3': 'another document' }))
    const longer = (bytes: number) => parts.map(([names, etag, length]) => [names, etag, length + bytes] as const)
    for (const [title, packed] of Object.entries({
      'a body that is cut off': { parts, body: body.slice(0, -1) },
      'an empty body': { parts, body: new Uint8Array() },
      'other bytes': { parts, body: encode('no Zstandard at all') },
      'longer parts': { parts: longer(1), body },
      'shorter parts': { parts: longer(-1), body },
      'a part that is missing': { parts: parts.slice(1), body },
    }))
      expect(() => unpackDocuments(packed as never), title).toThrow()
  })

  it('become longer than their parts by a block at most, however long their body would be', () => {
    const { body } = packDocuments(documentsOf({ '1.0': ' '.repeat(64 * 1024 * 1024) }))
    expect(body.byteLength).toBeLessThan(10_000)
    const unpack = () => unpackDocuments({ parts: [[['1.0'], '"a"', 1000]], body })
    expect(unpack).toThrow('Cannot create a Buffer larger than 132072 bytes')
  })
})

describe('the envelope of an agent', () => {
  const card = packDocuments(documentsOf({ '1.0': 'card' }))
  const agent = { seq: 7, modified: 0, profile: '{}', source: { checked: 1, ttl: 300, staleIfError: 0 } }
  const envelope = (visibility: string, packed = card) => {
    const { representations, ...rest } = toAgentEnvelope({ ...agent, visibility }, packed)
    return { ...rest, documents: read(representations) }
  }
  const published = { seq: 7, modified: 'Thu, 01 Jan 1970 00:00:00 GMT' }

  it('has the documents and the source of a public agent', () => {
    const documents = { '1.0': ['"card"', 'card'], profile: ['', '{}'] }
    expect(envelope('public')).toEqual({ ...published, source: agent.source, documents })
  })

  it('has nothing but the profile of an internal agent', () => {
    expect(envelope('internal')).toEqual({ ...published, documents: { profile: ['', '{}'] } })
  })
})

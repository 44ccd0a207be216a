import { isJsonObject, type JsonObject } from '../../json/json.ts'
import type { Pointer } from '../../json/pointer.ts'
import type { Manifest, ParsedManifest } from '../manifest/manifest.ts'
import { getSource } from '../manifest/source.ts'
import type { CardError, Note } from '../model/report.ts'
import { checkDocument } from '../read/validate.ts'
import { applyOverlay } from './overlay.ts'

/** The card that a manifest stands for, wherever it comes from. */
export type SourcedCard = {
  /** The manifest with the whole card. */
  manifest: Manifest
  /** What of it the manifest itself says. */
  written: JsonObject
  /** The card as it came, where it came from elsewhere. */
  fetched?: JsonObject
  /** What the card's signatures are over. */
  signed: JsonObject
  /** Where a place of the card is told of: in the author's card, or in what was fetched. */
  toldAt: (place: Pointer) => Pointer
  /** Where a place of the card is refused: in the document, or in what was fetched. */
  refusedAt: (place: Pointer) => Pointer
  /** Whether the manifest itself says a place of the card. */
  isOwners: (place: Pointer) => boolean
  /** What the manifest says in vain. */
  leftOut: Note[]
}

/** The card that a manifest stands for: its own, or what was fetched with its own laid over. */
export const mergeFetchedCard = (
  hosted: ParsedManifest,
  fetched: JsonObject | undefined,
): SourcedCard | { errors: CardError[] } => {
  const { manifest, cardAt, authoredAt } = hosted
  const source = getSource(manifest)
  const refusedAt = (place: Pointer): Pointer => cardAt + authoredAt(place)
  if (source === undefined)
    return {
      ...{ manifest, written: manifest.card, signed: manifest.card },
      ...{ toldAt: authoredAt, refusedAt, isOwners: () => true, leftOut: [] },
    }
  if (fetched === undefined)
    return refused(`/upstream/${source.kind}`, 'is where the card comes from, and nothing was fetched from there')
  if (!isJsonObject(fetched)) return refused('', 'is no JSON object, so it is not an Agent Card')
  const bounds = checkDocument(fetched)
  return bounds.length > 0 ? { errors: bounds } : laidOver(manifest, fetched, source.kind, refusedAt)
}

const laidOver = (
  manifest: Manifest,
  fetched: JsonObject,
  kind: 'card' | 'mcp',
  inManifest: (place: Pointer) => Pointer,
): SourcedCard | { errors: CardError[] } => {
  const { card: said } = manifest
  const bottom = { document: fetched, from: () => undefined }
  const { document, from, leftOut = [] } = applyOverlay(bottom, { at: '', patch: said, overTools: kind === 'mcp' })
  const at = (place: Pointer): Pointer => {
    const own = from(place)
    return own === undefined ? place : inManifest(own)
  }
  const signsItself = Object.hasOwn(said, 'signatures')
  const { signatures } = signsItself ? {} : fetched
  // Kept until it is known which of the representations they are still over.
  const card = signatures === undefined ? document : { ...document, signatures }
  const bounds = checkDocument(card)
  if (bounds.length > 0) return { errors: bounds.map(error => ({ ...error, pointer: at(error.pointer) })) }
  return {
    manifest: { ...manifest, card },
    written: said,
    fetched,
    signed: signsItself ? card : fetched,
    toldAt: at,
    refusedAt: at,
    isOwners: place => from(place) !== undefined,
    leftOut: leftOut.map(place => ({ pointer: inManifest(place), message: noSuchTool })),
  }
}

/** What is told of a skill that is laid over the tools of an MCP server and is none of them. */
export const noSuchTool = 'left out: the MCP server has no such tool'

const refused = (pointer: Pointer, message: string): { errors: CardError[] } => ({ errors: [{ pointer, message }] })

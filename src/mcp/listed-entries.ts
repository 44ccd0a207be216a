import type { CardError } from '../card/model/report.ts'
import { checkDocument } from '../card/read/validate.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import type { Listed } from './list-all.ts'

/** How the entries of one list of a document are made of what an MCP server lists. */
export type Listing = {
  /** The member of the document, and what one of what it lists is called. */
  name: 'skills' | 'resources' | 'prompts'
  one: 'tool' | 'resource' | 'prompt'
  /** The member that tells one from another: of two with the same, the first counts. */
  key: 'name' | 'uri'
  /** The entry for an item that has a key. */
  entry: (item: JsonObject) => JsonObject
}

/** What is left of what a document may hold: entries of each list, and characters of them all. */
export type Room = { entries: number; characters: number }

/** The entries of a list that a card can hold; what is left out, and why, is in `notes`. */
export const listedEntries = (
  { items, cut }: Listed,
  listing: Listing,
  room: Room,
): { entries: JsonObject[]; notes: CardError[] } => {
  const { name, one } = listing
  const entries: JsonObject[] = []
  const notes: CardError[] = []
  const keys = new Set<string>()
  const say = (message: string): void => {
    notes.push({ pointer: `/${name}`, message })
  }
  for (const [index, item] of items.entries()) {
    if (entries.length === room.entries) {
      say(`leaves out ${items.length - index} of the ${items.length} ${one}s: at most ${room.entries} are kept`)
      break
    }
    const read = readItem(item, listing, keys, room)
    if ('entry' in read) entries.push(read.entry)
    else say(`leaves out ${one} ${index + 1}${named(item)}: ${read.refused}`)
  }
  if (cut !== undefined) say(`lists not all ${one}s: ${cut}`)
  return { entries, notes }
}

const readItem = (
  item: Json,
  { name, one, key, entry }: Listing,
  keys: Set<string>,
  room: Room,
): { entry: JsonObject } | { refused: string } => {
  const id = isJsonObject(item) ? item[key] : undefined
  if (!isJsonObject(item) || typeof id !== 'string' || id === '') return { refused: `it has no ${key}` }
  if (keys.has(id)) return { refused: `a ${one} of this ${key} came before` }
  const read = entry(item)
  const [bad] = checkDocument({ [name]: [read] })
  if (bad) return { refused: `${bad.message} (at ${bad.pointer.slice(`/${name}/0`.length)})` }
  const size = JSON.stringify(read).length
  if (size > room.characters) return { refused: 'there is no room for it: the whole would be larger than 1 MiB' }
  room.characters -= size
  keys.add(id)
  return { entry: read }
}

const named = (item: Json): string => {
  const name = isJsonObject(item) ? item.name : undefined
  return typeof name === 'string' ? ` ("${name.slice(0, 60).toWellFormed()}")` : ''
}

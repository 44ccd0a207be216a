import { basename } from 'node:path'
import * as v from 'valibot'
import { Manifest } from '../../src/card/manifest/manifest.ts'
import { toSlug } from '../../src/card/model/constants.ts'
import { hostname as hostName } from '../../src/card/model/schema.ts'
import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  omit,
  type Pointer,
} from '../../src/json/json.ts'
import type { BadFile } from './bad-file.ts'
import { belowCard } from './places.ts'
import type { Source } from './source.ts'
import type { Written } from './written.ts'

/** Whether a file has the name of that in which Shaman keeps the agents of others. */
export const isExternalName = (file: string): boolean => basename(file) === 'agents.json'

/** What a bare card of any dialect has, as text. */
const cardFields = ['name', 'description', 'url']

/** A file of external agents: a map of names. One whose own members are those of a card or a manifest is that. */
export const isExternalAgents = (source: Source): source is Source & { value: JsonObject } => {
  const { file, value } = source
  if (!isExternalName(file) || !isJsonObject(value)) return false
  const isCard = cardFields.some(name => typeof value[name] === 'string')
  return !isCard && !Object.keys(value).some(name => name in Manifest.entries)
}

/** The agents of a file of external agents; and of each entry that is none, why. */
export const externalAgents = ({ file, value, find }: Source & { value: JsonObject }): (Written | BadFile)[] =>
  jsonEntries(value).map(([key, entry]) => {
    const at = formatPointer(key)
    const label = `${file}#${at}`
    const read = readEntry(key, entry)
    if ('manifest' in read)
      return { label, manifest: read.manifest, authoredAt: entryPlaces(at), unexposed: false, errors: [] }
    const place = at + read.place
    const position = find(place) ?? find(at) ?? { line: 1, column: 1 }
    return { file: label, problems: [{ file, ...position, pointer: place, message: read.message }] }
  })

type Fault = { place: Pointer; message: string }

const readEntry = (key: string, entry: Json): { manifest: JsonObject } | Fault => {
  if (!isJsonObject(entry)) return { place: '', message: 'must be an object with a `url`: an external agent' }
  const { agentCard = {}, url, agentName, upstream = {}, id = toSlug(key, ''), ...others } = entry
  if (typeof url !== 'string') return { place: '/url', message: 'must be the URL that the agent is called at' }
  if (!isJsonObject(agentCard)) return { place: '/agentCard', message: 'must be an object: what is known of its card' }
  if (!isJsonObject(upstream)) return { place: '/upstream', message: 'must be an object' }
  if (id === '') return { place: '', message: 'has no letter or digit that an id could be made of: say `id` in it' }
  const hosting = Object.keys(others).filter(name => name in Manifest.entries && name !== 'card')
  return {
    manifest: {
      // Only this host knows to say whose each call is.
      route: 'gateway',
      ...Object.fromEntries(hosting.map(name => [name, others[name]])),
      id,
      card: { ...omit(others, ...hosting), ...cardOf(key, url, agentCard) },
      upstream: { ...shown(url), ...upstream, ...(agentName !== undefined && { agentName }) },
    },
  }
}

/** What is known of an agent's card, with what every card has. Shaman's hosts speak A2A 0.3. */
const cardOf = (key: string, url: string, known: JsonObject): JsonObject => {
  const { name = key, description = `The external agent ${String(name)}` } = known
  const isOfVersion1 = 'supportedInterfaces' in known
  return { ...(!isOfVersion1 && { protocolVersion: '0.3.0' }), ...known, name, description, url }
}

/** Where the agent is, is no secret, though its calls pass through this host: its card may say so in words and links. */
const shown = (url: string): JsonObject => {
  const hostname = URL.parse(url)?.hostname.replace(/\.$/, '') ?? ''
  return v.is(hostName, hostname) ? { mayShow: [hostname] } : {}
}

/** The card of an entry stands in `agentCard`, and what of it that does not name in the entry itself. */
const entryPlaces =
  (at: Pointer) =>
  (place: Pointer): Pointer[] => {
    const inner = belowCard(place)
    if (inner !== undefined) return inner === '/url' ? [`${at}/url`] : [`${at}/agentCard${inner}`, at + inner]
    return place === '/upstream/agentName' ? [`${at}/agentName`] : [at + place]
  }

import { basename } from 'node:path'
import * as v from 'valibot'
import { type InvalidFile, type ParsedFile, type PointerMapping, pointerInCard } from '../../src/card/file/index.ts'
import { Manifest } from '../../src/card/manifest/index.ts'
import { hostname as Hostname, toSlug } from '../../src/card/model/index.ts'
import { parseUrl, toHttpUrl } from '../../src/http/shared.ts'
import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  omit,
  type Pointer,
} from '../../src/json/index.ts'
import type { ManifestSource } from './normalize.ts'

/** Whether a file has the name under which Shaman keeps external agents. */
export const isExternalAgentsName = (file: string): boolean => basename(file) === 'agents.json'

/** Members that a bare card of any dialect has as text. */
const CARD_FIELDS = ['name', 'description', 'url']

/** Whether a file is a map of external agents. A file of that name may also be a card or a manifest. */
export const isExternalAgents = (source: ParsedFile): source is ParsedFile & { value: JsonObject } => {
  const { file, value } = source
  if (!isExternalAgentsName(file) || !isJsonObject(value)) return false
  const isCard = CARD_FIELDS.some(name => typeof value[name] === 'string')
  return !isCard && !Object.keys(value).some(name => name in Manifest.entries)
}

/** Returns the agents of a file of external agents. An invalid entry does not affect the others. */
export const readExternalAgents = ({
  file,
  value,
  locate,
}: ParsedFile & { value: JsonObject }): (ManifestSource | InvalidFile)[] =>
  jsonEntries(value).map(([name, entry]) => {
    const root = formatPointer(name)
    const label = `${file}#${root}`
    const result = readEntry(name, entry)
    if ('manifest' in result)
      return { label, manifest: result.manifest, mapping: mapEntry(root), unexposed: false, errors: [] }
    const pointer = root + result.pointer
    const position = locate(pointer) ?? locate(root) ?? { line: 1, column: 1 }
    return { file: label, problems: [{ file, ...position, pointer, message: result.message }] }
  })

type EntryError = { pointer: Pointer; message: string }

const readEntry = (name: string, entry: Json): { manifest: JsonObject } | EntryError => {
  if (!isJsonObject(entry)) return { pointer: '', message: 'must be an object with a `url`: an external agent' }
  const { agentCard = {}, url, agentName, upstream = {}, id = toSlug(name, ''), ...others } = entry
  if (typeof url !== 'string') return { pointer: '/url', message: 'must be the URL where the agent is called' }
  if (!isJsonObject(agentCard))
    return { pointer: '/agentCard', message: 'must be an object: the known part of its card' }
  if (!isJsonObject(upstream)) return { pointer: '/upstream', message: 'must be an object' }
  if (id === '')
    return { pointer: '', message: 'has no letter or digit from which an id could be made: add an `id` to the entry' }
  const hosting = Object.keys(others).filter(field => field in Manifest.entries && field !== 'card')
  return {
    manifest: {
      // Only this host can add the agent's name to each call.
      route: 'gateway',
      ...Object.fromEntries(hosting.map(field => [field, others[field] as Json])),
      id,
      card: { ...omit(others, ...hosting), ...completeCard(name, url, agentCard) },
      upstream: { ...allowHostname(url), ...upstream, ...(agentName !== undefined && { agentName }) },
    },
  }
}

/** Adds what every card has to the known part of a card. Shaman's hosts speak A2A 0.3. */
const completeCard = (key: string, url: string, known: JsonObject): JsonObject => {
  const { name = key, description = `The external agent ${String(name)}` } = known
  const isVersion1 = 'supportedInterfaces' in known
  return { ...(!isVersion1 && { protocolVersion: '0.3.0' }), ...known, name, description, url }
}

/** Lets the card name the agent's host: although calls go through this host, where the agent is, is public. */
const allowHostname = (url: string): JsonObject => {
  const hostname = parseUrl(toHttpUrl(url))?.hostname.replace(/\.$/, '') ?? ''
  return v.is(Hostname, hostname) ? { mayShow: [hostname] } : {}
}

/** Maps the card to `agentCard`, or to the entry itself for members that only the entry has. */
const mapEntry =
  (root: Pointer): PointerMapping =>
  pointer => {
    const inner = pointerInCard(pointer)
    if (inner !== undefined) return inner === '/url' ? [`${root}/url`] : [`${root}/agentCard${inner}`, root + inner]
    return pointer === '/upstream/agentName' ? [`${root}/agentName`] : [root + pointer]
  }

import { formatPointer, isJsonObject, type Json, type JsonObject, type Pointer, toText } from '../../json/json.ts'
import { collectStrings } from '../../json/tree.ts'
import { parseUrl } from '../../net/urls.ts'
import type { CardError } from '../model/report.ts'
import { presentEndpointFields } from './interfaces.ts'

/** A format whose documents are published where a card should be. */
type Format = {
  /** What its documents are. */
  name: string
  /** Returns the pointer of the field that identifies a document of the format; undefined for any other document. */
  find: (document: JsonObject) => Pointer | undefined
  /** What the owner can do instead. */
  hint?: string
}

/** Whether a document has what makes an A2A card of any generation, besides the fields of another format. */
const isCard = (document: JsonObject): boolean =>
  presentEndpointFields(document).length > 0 &&
  (hasItems(document.skills) ||
    isJsonObject(document.capabilities) ||
    Array.isArray(document.defaultInputModes ?? document.default_input_modes))

const hasItems = (value: Json | undefined): boolean => Array.isArray(value) && value.length > 0

/** Returns the pointer of a field if the condition holds. */
const fieldIf = (condition: boolean, field: string): Pointer | undefined =>
  condition ? formatPointer(field) : undefined

/** Fields of directories, in which each item is about an agent. */
const directoryFields = ['agents', 'entries', 'cards', 'linkset']

const findDirectory = (document: JsonObject): Pointer | undefined => {
  const field = directoryFields.find(name => Array.isArray(document[name]))
  const isDirectory = field === 'agents' ? !hasItems(document.skills) : !isCard(document)
  return field === undefined || !isDirectory ? undefined : formatPointer(field)
}

const findMcpServer = (document: JsonObject): Pointer | undefined => {
  if (isJsonObject(document.mcpServers)) return fieldIf(!isCard(document), 'mcpServers')
  if (/modelcontextprotocol/i.test(toText(document.$schema))) return fieldIf(!isCard(document), '$schema')
  const isMcp = /^mcp(?![a-z])/i.test(toText(document.type))
  return fieldIf(isMcp && (!isCard(document) || runsLocally(document)), 'type')
}

/** Whether an MCP server is a local process, which nobody can call over the network. */
const runsLocally = (document: JsonObject): boolean =>
  typeof document.command === 'string' || collectStrings(document).some(({ value }) => /^stdio$/i.test(value))

/** Returns the pointer of a member that has the address of a card: at the top by its name, and deeper only with a card's path. */
const findCardLink = (document: JsonObject): Pointer | undefined => {
  const { agentCard: _, ...others } = document
  return collectStrings(typeof document.agentCard === 'string' ? document : others)
    .filter(({ name, value }) => linkName.test(name) && (document[name] === value || cardPath.test(value)))
    .map(({ pointer }) => pointer())
    .at(0)
}

const formats: readonly Format[] = [
  {
    name: 'an ERC-8004 registration, not an A2A card',
    find: document => fieldIf(/eip-?8004|erc-?8004/i.test(toText(document.type)) && !isCard(document), 'type'),
  },
  {
    name: 'a description of an MCP server, not an A2A card',
    find: findMcpServer,
    hint: 'to serve it as an agent, name its https address as `upstream.mcp`',
  },
  {
    name: 'a list of workflows, not an A2A card',
    find: document => fieldIf(Array.isArray(document.workflows) && !isCard(document), 'workflows'),
  },
  {
    name: 'a workflow, not an A2A card',
    find: document =>
      fieldIf(Array.isArray(document.nodes) && isJsonObject(document.connections) && !isCard(document), 'nodes'),
  },
  { name: 'a directory of agents, not the card of one', find: findDirectory },
  {
    name: 'a list of HTTP endpoints, not an A2A card',
    find: document =>
      fieldIf(Array.isArray(document.endpoints) && !('url' in document) && !('skills' in document), 'endpoints'),
  },
  {
    name: 'a description of an agent, but not an A2A card',
    find: document => fieldIf(isJsonObject(document.agent) && !('name' in document), 'agent'),
  },
  {
    name: 'a description of an agent, but not an A2A card',
    find: ({ capabilities, ...document }) =>
      fieldIf(
        Array.isArray(capabilities) && capabilities.some(isJsonObject) && !('skills' in document),
        'capabilities',
      ),
  },
  {
    name: 'a description of an agent, but not an A2A card',
    find: document => (isCard(document) ? undefined : findCardLink(document)),
  },
]

/**
 * Identifies a document of another format, names the fields that it lacks to be a card, and says where it has the address of a
 * card. Empty if it may be a card: a document of another format that is a card as well is read as a card.
 */
export const detectForeignDocument = (document: JsonObject): CardError[] => {
  for (const { name, find, hint } of formats) {
    const pointer = find(document)
    if (pointer === undefined) continue
    const advice = cardAddress(document) ?? hint
    return [{ pointer, message: `is ${name}${advice ? `: ${advice}` : ''}` }, ...missingFields(document)]
  }
  return []
}

const missingFields = (document: JsonObject): CardError[] => [
  ...['name', 'description', 'skills']
    .filter(name => !(name in document))
    .map(name => ({ pointer: formatPointer(name), message: 'is missing' })),
  ...(presentEndpointFields(document).length > 0 ? [] : [{ pointer: '/url', message: 'is missing' }]),
]

/** Names of members that have the address of a card. */
const linkName = /^(?:a2a_?)?(?:agent_?)?card(?:_?(?:ur[li]|endpoint|path|link))?$/i

/** The path of a card, as A2A publishes cards. */
const cardPath = /\/agent(?:[-_]?card)?\.json$/i

const MAX_ADDRESS_LENGTH = 160

/** Says where a document has the address of a card, and which that is. */
const cardAddress = (document: JsonObject): string | undefined => {
  const base = [document.url, document.baseUrl, document.base_url].find(value => typeof value === 'string')
  for (const { name, value, pointer } of collectStrings(document)) {
    const url = /^(?:https?:\/)?\//i.test(value) ? parseUrl(value, typeof base === 'string' ? base : undefined) : null
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') continue
    if (!linkName.test(name) && !cardPath.test(url.pathname)) continue
    // A directory may give its own address there.
    if (pointer() === '/url') continue
    const address = url.href.length > MAX_ADDRESS_LENGTH ? '' : `, ${url.href}`
    return `it names a card at ${pointer()}${address}`
  }
  return undefined
}

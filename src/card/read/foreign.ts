import { parseUrl } from '../../http/shared.ts'
import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { collectStrings, formatPointer, hasItems, isJsonObject, toText } from '../../json/index.ts'
import type { Finding } from '../model/index.ts'
import { canonicalFlag, hasField, listCapabilityNames } from './field-names.ts'
import { hasEndpoint } from './interfaces.ts'

/** Returns whether a document has what makes an A2A card of any generation, besides the fields of another format. */
const isCard = (document: JsonObject): boolean =>
  hasEndpoint(document) &&
  (hasItems(document.skills) ||
    hasField(document, 'card', cardFields) ||
    ((isJsonObject(document.capabilities) ||
      namesCapabilities(document.capabilities) ||
      /^v?\d+(?:\.\d+){0,2}$/i.test(toText(document.protocolVersion ?? document.protocol_version))) &&
      !isIndex(document)))

/** Returns whether a document links to an A2A card beside other things. Such documents have their own capabilities. */
const isIndex = (document: JsonObject): boolean => {
  const link = findCardLink(document)
  return link !== undefined && (Array.isArray(document.workflows) || /\/a2a[^/]*$/i.test(link))
}

/** Fields that only A2A has. */
const cardFields = new Set([
  ...['supportedInterfaces', 'additionalInterfaces', 'preferredTransport', 'defaultInputModes', 'defaultOutputModes'],
])

/** Returns whether capabilities are a list of names, all of them of A2A. */
const namesCapabilities = (capabilities: Json | undefined): boolean => {
  const names = listCapabilityNames(capabilities) ?? []
  return names.length > 0 && names.every(name => canonicalFlag(name) !== undefined)
}

/** Fields of directories, in which each item is about an agent. */
const directories = ['/agents', '/entries', '/cards', '/linkset']

const findMcpServer: Finder = ({ mcpServers, $schema, type }) => {
  if (isJsonObject(mcpServers)) return '/mcpServers'
  return /modelcontextprotocol/i.test(toText($schema)) ? '/$schema' : /^mcp(?![a-z])/i.test(toText(type)) && '/type'
}

/** Returns whether an MCP server is a local process, which nobody can call over the network. */
const runsLocally = (document: JsonObject): boolean =>
  typeof document.command === 'string' ||
  [document.transport, document.transports, document.protocol]
    .flat()
    .some(value => /^stdio$/i.test(toText(isJsonObject(value) ? value.type : value)))

const adviseMcpServer = (document: JsonObject): string => {
  const { mcpServers } = document
  const servers = isJsonObject(mcpServers) ? Object.values(mcpServers).filter(isJsonObject) : [document]
  return servers.some(runsLocally)
    ? "it runs on its owner's machine: publish it over https first, and then name its address as `upstream.mcp`"
    : 'to serve it as an agent, name its https address as `upstream.mcp`'
}

/** Returns the pointer of a card's address: at the top by its name, and deeper only with a card's path. */
const findCardLink = (document: JsonObject): Pointer | undefined => {
  const { agentCard: _, ...others } = document
  return collectStrings(typeof document.agentCard === 'string' ? document : others)
    .find(({ name, value }) => linkName.test(name) && (document[name] === value || cardPath.test(value)))
    ?.pointer()
}

const findAgent: Finder = document => isJsonObject(document.agent) && !('name' in document) && '/agent'

const isBare = (document: JsonObject): boolean => !hasEndpoint(document) && !('skills' in document)

const findDescription: Finder = document =>
  findAgent(document) ||
  (Array.isArray(document.capabilities) &&
    document.capabilities.some(isJsonObject) &&
    isBare(document) &&
    '/capabilities') ||
  findCardLink(document)

/** Returns the pointer of the field that identifies a document of a format, if it has any. */
type Finder = (document: JsonObject) => Pointer | false | undefined

/** The formats whose documents are published where a card should be, as the end of a sentence about them. */
const formats: readonly (readonly [name: string, find: Finder, findInCard?: Finder])[] = [
  ['an ERC-8004 registration, not an A2A card', ({ type }) => /eip-?8004|erc-?8004/i.test(toText(type)) && '/type'],
  [
    'a description of an MCP server, not an A2A card',
    findMcpServer,
    document => findMcpServer(document) === '/type' && runsLocally(document) && '/type',
  ],
  ['a list of workflows, not an A2A card', ({ workflows }) => Array.isArray(workflows) && '/workflows'],
  [
    'a workflow, not an A2A card',
    ({ nodes, connections: links }) => Array.isArray(nodes) && isJsonObject(links) && '/nodes',
  ],
  ['a directory of agents, not the card of one', document => directories.find(at => hasItems(document[at.slice(1)]))],
  ['a list of HTTP endpoints, not an A2A card', card => Array.isArray(card.endpoints) && isBare(card) && '/endpoints'],
  ['a description of an agent, but not an A2A card', findDescription, findAgent],
]

/**
 * Identifies a document of another format, names the fields that it lacks to be a card, and says where it has the
 * address of a card. Empty if it may be a card: a document of another format that is a card as well is read as a card.
 * `$schema` is no part of a card, but may name the format; `address` is where the document was fetched.
 */
export const detectForeignDocument = (card: JsonObject, $schema?: Json, address?: string): Finding[] => {
  const document = $schema === undefined ? card : { ...card, $schema }
  const isAlsoCard = isCard(document)
  for (const [name, find, findInCard] of formats) {
    const pointer = isAlsoCard ? findInCard?.(document) : find(document)
    if (!pointer) continue
    const advice = adviseCard(document, address) ?? (find === findMcpServer ? adviseMcpServer(document) : undefined)
    return [{ pointer, message: `is ${name}${advice ? `: ${advice}` : ''}` }, ...missingFields(document)]
  }
  return []
}

/** Returns errors for the fields that a card lacks. A card may lack skills, so these alone are no error. */
const missingFields = (document: JsonObject): Finding[] => {
  const missing = ['name', 'description'].filter(name => !(name in document))
  const isComplete = missing.length === 0 && hasEndpoint(document)
  if (!isComplete && !('skills' in document)) missing.push('skills')
  if (!hasEndpoint(document)) missing.push('url')
  return missing.map(name => ({ pointer: formatPointer(name), message: 'is missing' }))
}

/** Names of members that have the address of a card. */
const linkName = /^(?:a2a_?)?(?:agent_?)?card(?:_?(?:ur[li]|endpoint|path|link))?$/i

/** The path of a card, as A2A publishes cards. */
const cardPath = /\/agent(?:[-_]?card)?\.json$/i

const MAX_ADDRESS_LENGTH = 160

/** Says where a document has the address of another card, and how to register that. */
const adviseCard = (document: JsonObject, address?: string): string | undefined => {
  const base = [address, document.url, document.baseUrl, document.base_url].find(value => typeof value === 'string')
  for (const { name, value, pointer } of collectStrings(document)) {
    const url = /^(?:https?:\/)?\//i.test(value) ? parseUrl(value, typeof base === 'string' ? base : undefined) : null
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') continue
    if (!linkName.test(name) && !cardPath.test(url.pathname)) continue
    // A directory may give its own address there.
    if (pointer() === '/url' || url.href === address) continue
    const shown = url.href.length > MAX_ADDRESS_LENGTH ? '' : `: ${url.href}`
    return `register the card that it links to at ${pointer()}, with \`upstream.card${shown}\``
  }
  const relative = base === undefined ? findCardLink(document) : undefined
  return relative && `register the card that it links to at ${relative}, with its whole URL as \`upstream.card\``
}

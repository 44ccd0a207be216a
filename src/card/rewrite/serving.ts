import { isJsonObject, type JsonObject, omit } from '../../json/index.ts'
import { writeRepresentations } from '../dialects/index.ts'
import type { Manifest } from '../manifest/index.ts'
import {
  type AgentCard,
  type AgentInterface,
  type BridgeLevel,
  type CardError,
  type DialectName,
  type RepresentationName,
  toTarget,
  translatedProtocols,
} from '../model/index.ts'
import type { Provenance } from '../read/index.ts'
import { forwardable } from './bridge-losses.ts'
import { collectAgentAddresses, createLeakFinder, type HostLeak, type LeakFinder } from './host-leaks.ts'
import { withBridgeInterfaces } from './mcp-bridge.ts'
import { rewriteForGateway } from './rewrite-urls.ts'

/** A canonical card to be served, with the document that it was read from and the one that its signatures cover. */
type ServedCard = {
  card: AgentCard
  authored: JsonObject
  dialect: DialectName
  provenance: Provenance
  signed: JsonObject
}

/** How the cards of one agent are served for its route. */
export type Serving = {
  /** Returns a canonical card as it is served. */
  toServedCard: (card: AgentCard) => AgentCard
  /** Writes every representation of such a card, and returns the places that reveal the agent's host. */
  writeRepresentations: (served: ServedCard) => ReturnType<typeof writeRepresentations> & { errors: CardError[] }
}

/**
 * Creates the serving of an agent: unchanged, or with this host's URLs behind a gateway. `fetched` are the cards that were fetched
 * from the agent, none for a written card.
 */
export const createServing = (
  manifest: Manifest,
  direct: AgentCard,
  fetched: readonly JsonObject[],
  agentUrl: string,
): Serving =>
  manifest.route === 'gateway'
    ? gatewayServing(manifest, direct, fetched, agentUrl)
    : {
        toServedCard: card => card,
        writeRepresentations: ({ card, authored, dialect, signed }) => ({
          ...writeRepresentations(
            card,
            { dialect, document: authored, signed: keptBy(manifest, signed) },
            manifest.route,
          ),
          errors: [],
        }),
      }

/** Returns the document whose signatures are kept; undefined where the manifest wants none of its author's. */
const keptBy = ({ signatures }: Manifest, signed: JsonObject): JsonObject | undefined =>
  signatures === 'keep' ? signed : undefined

const gatewayServing = (
  manifest: Manifest,
  direct: AgentCard,
  fetched: readonly JsonObject[],
  agentUrl: string,
): Serving => {
  const addresses = collectAgentAddresses(manifest, direct, fetched, agentUrl)
  const isFetched = fetched.length > 0
  const find = createLeakFinder(addresses, agentUrl, manifest.upstream.mayShow ?? [])
  const rewriter = isFetched ? rewriteForGateway(manifest, direct, addresses.hidden, agentUrl) : undefined
  return {
    toServedCard: card => {
      const routed = {
        ...card,
        ...gatewayCardLink(card, agentUrl),
        supportedInterfaces: gatewayInterfaces(
          withBridgeInterfaces(manifest, card).supportedInterfaces,
          manifest.bridge,
          agentUrl,
        ),
      }
      return rewriter?.rewriteCard(routed) ?? routed
    },
    writeRepresentations: served => {
      const { card, authored, dialect, provenance, signed } = served
      const document = rewriter?.rewriteDocument(authored, provenance) ?? authored
      const authoredCard = { dialect, document, signed: keptBy(manifest, signed) }
      const written = writeRepresentations(card, authoredCard, manifest.route)
      const leaks = findLeaks(find, served, written.documents)
      const message = isFetched ? leakMessage : () => ownerLeakMessage
      return { ...written, errors: leaks.map(leak => ({ pointer: leak.pointer, message: message(leak) })) }
    },
  }
}

/**
 * Returns the leaks of a gateway's card, with pointers into the card as authored. Searches the canonical card first, then the
 * document in the author's dialect, which may keep fields that the canonical card does not have, then the others.
 */
const findLeaks = (
  find: LeakFinder,
  { card, dialect, provenance }: ServedCard,
  documents: Record<RepresentationName, JsonObject>,
): HostLeak[] => {
  // Signatures are served only where they are still valid, so they are searched in the documents.
  const inCard = find(omit(card, 'signatures'))
    .filter(({ pointer }) => !provenance.isFilled(pointer))
    .map(leak => ({ ...leak, pointer: provenance.sourceOf(leak.pointer) }))
  const inDocuments = [...new Set([documents[dialect], ...Object.values(documents)])].map(find)
  return [inCard, ...inDocuments].find(leaks => leaks.length > 0) ?? []
}

const ownerLeakMessage = "contains the agent's own address, which `route: gateway` hides: remove it"

const leakMessage = ({ host }: HostLeak): string =>
  `names the agent's host ${host}, which \`route: gateway\` hides: override the field under \`card\`, or list the host in \`upstream.mayShow\``

/**
 * Returns the interfaces of a gateway's card at this host's URL, each once: the agent's own, and those from which calls
 * are translated. An agent of 0.2 is listed as one of 0.3, as which it is called: readers of 0.x take all interfaces to
 * have one version.
 */
const gatewayInterfaces = (
  interfaces: readonly AgentInterface[],
  bridge: BridgeLevel,
  agentUrl: string,
): AgentInterface[] => {
  const own = interfaces.flatMap(each => toTarget(each) ?? [])
  const rerouted = new Map<string, AgentInterface>()
  for (const { binding, version } of [...own, ...translatedProtocols(own, bridge)])
    rerouted.set(`${binding} ${version}`, {
      url: `${agentUrl}/a2a`,
      protocolBinding: binding,
      protocolVersion: version,
    })
  return [...rerouted.values()]
}

/** Points SuperX's `agentCard`, where a card has one, to the card that this host serves. */
const gatewayCardLink = (card: JsonObject, agentUrl: string): JsonObject =>
  isJsonObject(card.agentCard) && card.agentCard.url !== undefined
    ? { agentCard: { ...card.agentCard, url: `${agentUrl}/.well-known/agent-card.json` } }
    : {}

/** Rejects `route: gateway` for an agent that has no interface this host can forward to. */
export const gatewayErrors = (interfaces: readonly AgentInterface[]): CardError[] =>
  interfaces.some(toTarget)
    ? []
    : [
        {
          pointer: '/route',
          message: `needs an interface that this host can forward to, ${forwardable}: add one, or use \`route: direct\``,
        },
      ]

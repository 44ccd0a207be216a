import { formatPointer, hasItems, type Json, type JsonObject, type Pointer } from '../../json/index.ts'
import { buildCallProfile, type CallProfile, trustedIssuers } from '../call-profile.ts'
import { lint, redactSecrets, searchManifest } from '../lint/index.ts'
import { callerPolicy, type Manifest, type ManifestContext, taskPolicy } from '../manifest/index.ts'
import type { AgentCard, CallerPolicy, Finding, Report, RepresentationName } from '../model/index.ts'
import { relocate, signedNames, toTarget, truncateFindings, truncatePointers } from '../model/index.ts'
import { allowsAnonymous, detectForeignDocument, Provenance } from '../read/index.ts'
import {
  bridgeErrors,
  bridgeLosses,
  bridgeProfile,
  createRouteWriter,
  gatewayErrors,
  isSelfUrl,
  withBridgeInterfaces,
} from '../rewrite/index.ts'
import { readCanonicalCard } from './canonical-card.ts'
import { compileExtendedCards, type ExtendedCard } from './extended-cards.ts'
import { type MergedCard, mergeFetchedCard } from './overlay.ts'
import { type ParsedManifest, parseManifest, reject } from './parse.ts'

export { compileAgentExtendedCard } from './extended-cards.ts'
export { completeManifest, type ParsedManifest, parseManifest, parseStored } from './parse.ts'

/** A manifest with all that is served for it: its canonical card as it is served, and with the agent's own URLs. */
export type Compiled = {
  manifest: Manifest
  card: AgentCard
  direct: AgentCard
  report: Report
  /** Places that look like secrets and are not allowed: neither registration nor refresh may publish such a card. */
  secrets: Finding[]
  documents: Record<RepresentationName, JsonObject>
  profile: CallProfile
  /** The lowest tier first; empty if the manifest has no overlays. */
  extended: ExtendedCard[]
  /** The origin of this host's URLs in the card. */
  origin: string
  /** Maps a place in `direct` to the place that a report names. */
  toAuthored: (canonical: Pointer) => Pointer
}

type Compilation = { compiled: Compiled } | { errors: Finding[] }

/** Parses a document and compiles it. */
export const compileDocument = (document: Json, context: ManifestContext & { fetched?: JsonObject | undefined }) => {
  const parsed = parseManifest(document, context)
  return 'errors' in parsed ? parsed : compile(parsed, context.fetched)
}

/**
 * Compiles a manifest, with the card from its source if it has one: fills its defaults, validates and lints it, and
 * writes every representation. Pure and deterministic. Returns all errors found at one step, each with a pointer into
 * the document or into the fetched card. No message repeats what looks like a secret.
 */
export const compile = (parsed: ParsedManifest, fetched?: JsonObject): Compilation => {
  const merged = mergeFetchedCard(parsed, fetched)
  const result = 'errors' in merged ? merged : compileCard(merged)
  return 'errors' in result ? reject(result.errors, [parsed.document, fetched]) : result
}

const compileCard = (merged: MergedCard): Compilation => {
  const { id, origin, manifest, ownerCard, signedDocument, fetched, authoredPointer, errorPointer } = merged
  const foreign = detectForeignDocument(manifest.card, merged.schema, manifest.upstream.card)
  if (foreign.length > 0) return { errors: relocate(foreign, errorPointer) }
  const provenance = new Provenance()
  for (const { pointer, message } of merged.filled) provenance.noteDefault(pointer, undefined, message)
  const read = readCanonicalCard(manifest, provenance)
  if ('errors' in read) return { errors: relocate(read.errors, errorPointer) }
  const { card: direct, authored, dialect } = read
  const agentUrl = `${origin}/agents/${id}`
  const inconsistencies = checkConsistency(merged, direct, provenance, agentUrl)
  if (inconsistencies.length > 0) return { errors: inconsistencies }

  const writer = createRouteWriter(manifest, direct, fetched ? [fetched] : [], agentUrl)
  const card = writer.toServedCard(direct)
  const served = writer.writeRepresentations({ card, authored, dialect, provenance, signed: signedDocument })
  if (served.errors.length > 0) return { errors: relocate(served.errors, errorPointer) }
  const { found, disallowed, secrets } = fetched ? searchManifest(merged, merged.foundBeside) : merged
  const { filled, converted, sourceOf } = provenance
  const issues = lint({ card, authored, manifest, sourceOf, disallowed })
  const tiers = compileExtendedCards(merged, read, { filled, converted, issues }, writer)
  if ('errors' in tiers) return tiers

  const { extended, findings } = tiers
  const toAuthored = (pointer: Pointer) => authoredPointer(sourceOf(pointer))
  const agentCard = withBridgeInterfaces(manifest, direct)
  const report: Report = redactSecrets(found)({
    dialect,
    filled: [...truncateFindings([...filled, ...findings.filled], authoredPointer), ...notePolicies(manifest)],
    converted: truncateFindings([...converted, ...findings.converted, ...merged.notes], authoredPointer),
    dropped: listDropped(served.dropped, merged, provenance),
    lossy: truncateFindings(bridgeLosses(manifest, agentCard), toAuthored),
    signatures: describeSignatures(manifest, authored, served.documents),
    issues: truncateFindings([...issues, ...findings.issues], authoredPointer),
  })
  const names = extended.map(({ tier }) => tier)
  const issuers = trustedIssuers(direct, ownerCard)
  const profile: CallProfile = {
    ...buildCallProfile(manifest, agentCard, { tiers: names, issuers, origin, agentUrl }),
    ...bridgeProfile(manifest, authored, direct),
  }
  const { documents } = served
  const compiled = { manifest, card, direct, documents, profile, extended, origin, report, toAuthored }
  return { compiled: { ...compiled, secrets: truncateFindings(secrets, pointer => pointer) } }
}

/** Notes which documents keep the signatures of the card's author, and why others do not. */
const describeSignatures = (manifest: Manifest, authored: JsonObject, documents: Compiled['documents']): Finding[] => {
  if (!hasItems(authored.signatures)) return []
  const { signatures: policy } = manifest
  const note = (message: string): Finding => ({ pointer: '/signatures', message })
  if (policy !== 'keep') return [note(`left out of every document: the manifest has \`signatures: ${policy}\``)]
  const [kept, dropped] = [true, false].map(isKept =>
    signedNames.filter(name => (documents[name].signatures !== undefined) === isKept).join(', '),
  )
  return [
    ...(kept ? [note(`kept in ${kept}`)] : []),
    ...(dropped ? [note(`left out of ${dropped}: they do not cover what is served there`)] : []),
  ]
}

/** Notes the defaults that change what callers can do. */
const notePolicies = (manifest: Manifest): Finding[] => {
  const callers = callerPolicy(manifest)
  const added = 'this host adds a credential of its own to each call'
  const notes: Finding[] = []
  if (manifest.callers === undefined && callers !== 'anyone')
    notes.push({ pointer: '/callers', message: `set to ${callers}: ${added}, ${callerNotes[callers]}` })
  if (manifest.gate.tasks === undefined && taskPolicy(manifest) === 'owner')
    notes.push({ pointer: '/gate/tasks', message: `set to owner: ${added}, so each caller reaches only its own tasks` })
  return notes
}

const callerNotes: Readonly<Record<Exclude<CallerPolicy, 'anyone'>, string>> = {
  tokens: 'so callers need a token of this host (`npx sync-card token create --scope call`)',
  issuer: 'so callers need a token of the issuer for an audience in `jwt`, or one of this host with the scope `call`',
}

/** Returns what each dialect dropped, in the authored card. Omits defaults and this host's own interfaces. */
const listDropped = (dropped: Report['dropped'], { manifest, authoredPointer }: MergedCard, provenance: Provenance) => {
  const isHosts = (pointer: Pointer) => manifest.route === 'gateway' && pointer.startsWith('/supportedInterfaces/')
  const lost = Object.entries(dropped).map(([name, pointers]) => {
    const authored = pointers.filter(pointer => !isHosts(pointer) && !provenance.isFilled(pointer))
    return [name, truncatePointers(authored.map(pointer => authoredPointer(provenance.sourceOf(pointer))))] as const
  })
  return Object.fromEntries(lost.filter(([, pointers]) => pointers.length > 0))
}

/**
 * Rejects a valid card that contradicts its manifest: calls that would loop, secrets that would go to another host, a
 * route without a target, a `jwt` without an issuer, callers that nobody would check. Pointers are into the registered
 * document, or into the fetched card.
 */
const checkConsistency = (merged: MergedCard, card: AgentCard, provenance: Provenance, agentUrl: string) => {
  const { manifest, ownerCard, fetched, errorPointer } = merged
  const { callers, jwt, route, upstream } = manifest
  const endpoints = fetched
    ? [...bridgeErrors(manifest, card), ...endpointErrors(merged, card, provenance, agentUrl)]
    : []
  return [
    ...relocate(endpoints, pointer => errorPointer(provenance.sourceOf(pointer))),
    ...(route === 'gateway' ? gatewayErrors(withBridgeInterfaces(manifest, card).supportedInterfaces) : []),
    // An upstream URL that is this host's own URL of the agent.
    ...(fetched ? (['url', 'card', 'mcp'] as const) : []).flatMap(name =>
      errorIf(isSelfUrl(upstream[name] ?? '', agentUrl), formatPointer('upstream', name), loopMessage),
    ),
    // A fetched card cannot add a trusted issuer.
    ...errorIf(
      jwt !== undefined && trustedIssuers(card, ownerCard).length === 0,
      '/jwt',
      fetched
        ? 'needs an OpenID Connect issuer that the manifest names: add one to the securitySchemes of `card`'
        : 'needs an OpenID Connect issuer, and the securitySchemes of the card name none',
    ),
    ...errorIf(
      callers === 'issuer' && jwt?.audience === undefined,
      '/callers',
      'needs `jwt.audience`, or every account of the issuer could call the agent: add the audience of its tokens',
    ),
    ...errorIf(
      callers === 'anyone' && upstream.secret !== undefined && !allowsAnonymous(card.securityRequirements),
      '/callers',
      'is "anyone", but the card requires credentials that nobody would check, because each call gets the secret of ' +
        'the host: remove it, or the requirement from the card',
    ),
  ]
}

const errorIf = (isWrong: boolean, pointer: Pointer, message: string): Finding[] =>
  isWrong ? [{ pointer, message }] : []

/** Rejects endpoints of a fetched card at this host itself, and those on another host that would receive the secret. */
const endpointErrors = (merged: MergedCard, direct: AgentCard, provenance: Provenance, agentUrl: string): Finding[] => {
  const { url, card, secret, service } = merged.manifest.upstream
  if (card === undefined || url !== undefined) return []
  return direct.supportedInterfaces.flatMap((each, index) => {
    const pointer = formatPointer('supportedInterfaces', index, 'url')
    if (!toTarget(each)) return []
    if (isSelfUrl(each.url, agentUrl)) return [{ pointer, message: loopMessage }]
    // The secret goes to the origin of `upstream.card`, or wherever the owner names an endpoint.
    const isSafe = secret === undefined || service !== undefined || merged.isOwnerAuthored(provenance.sourceOf(pointer))
    return errorIf(!isSafe && new URL(each.url).origin !== new URL(card).origin, pointer, secretMessage)
  })
}

const loopMessage = "is this host's own URL of the agent, so calls would loop: use the agent's own URL"

const secretMessage =
  'is on another host than `upstream.card`, so the secret would go to a host that the manifest does not name: ' +
  'set `upstream.url` to allow it'

import type { ResponseOf } from '../../../api/client/index.ts'
import { listWords, plural, shorten } from '../../components/index.ts'

type Source = ResponseOf<'GET /agents/:id/source'>['source']
type Observed = ResponseOf<'GET /agents/:id/observed'>
type Revision = ResponseOf<'GET /agents/:id/revisions/:seq'>
type Receipt = Pick<ResponseOf<'PUT /agents/:id'>, 'id' | 'seq' | 'changed' | 'class'>
type AuditEntry = ResponseOf<'GET /audit'>['entries'][number]

/** The names that a host has for those who change something without a token that it issued. */
const ACTORS = new Map([
  ['admin', 'the ADMIN_TOKEN'],
  ['host', 'this host'],
  ['anonymous', 'a caller without a valid token'],
])

/** Names who made a change. */
export const describeActor = (actor: string): string => ACTORS.get(actor) ?? `the token \`${actor}\``

/** Describes how a revision was made. */
export const describeRevision = ({ by, author }: Pick<Revision, 'by' | 'author'>): string => {
  const actor = describeActor(author)
  if (by === 'removal') return `Removed by ${actor}`
  if (by === 'manifest') return `Registered by ${actor}`
  return author === 'host' ? 'Fetched by this host, because the card had changed' : `Fetched on request of ${actor}`
}

/** The meaning of each class of changes for clients. */
export const CLASS_MEANINGS = {
  breaking: 'a client that worked may fail.',
  additive: 'clients that worked still do, and others can do more.',
  cosmetic: 'calls are not affected.',
} as const

/** Describes the outcome of a registration, which a rollback is, too. */
export const describeReceipt = ({ id, seq, changed, class: changeClass }: Receipt): string => {
  if (!changed) return `\`${id}\` is registered as before: nothing has changed.`
  const meaning = changeClass ? ` For clients, the change is ${changeClass}.` : ''
  return `\`${id}\` is registered, as revision ${seq}.${meaning}`
}

const UNITS = { day: 86_400, hour: 3600, minute: 60 }

/** Describes a duration in the largest unit that fits. */
export const describeSeconds = (seconds: number): string => {
  const fits = ([, size]: [string, number]): boolean => seconds % size === 0 && seconds >= size
  const [unit, size] = Object.entries(UNITS).find(fits) ?? ['second', 1]
  return plural(seconds / size, unit)
}

/** Describes the state of a remote card: what clients get, and why. */
export const describeSource = (source: Source): string[] => {
  const { state, kind, ttl, staleIfError, pin, verify, failure } = source
  const upstream = kind === 'mcp' ? 'the MCP server' : 'the upstream'
  const states = {
    fresh: `The card is fresh: ${upstream} confirmed it when it was last asked.`,
    stale: `The card is stale: ${upstream} fails, and clients get the last card that could be fetched.`,
    'no-card': `No card was ever fetched: clients get the status ${failure?.status ?? 502}.`,
    pending: 'A new card waits for you: clients get the card before it until you accept it.',
  }
  return [
    states[state],
    `A fetched card is fresh for ${describeSeconds(ttl)}, and is served for ${describeSeconds(staleIfError)} ` +
      `after that while ${upstream} fails.`,
    describeApproval(pin, verify === 'require'),
  ]
}

const describeApproval = (pin: boolean, isVerified: boolean): string => {
  const also = isVerified ? ', is not verified or is older' : ''
  if (pin) return `A card that widens access${also} waits until somebody accepts it.`
  const widening = 'card that widens access is served without a question: set `pin` in the manifest to be asked.'
  return isVerified
    ? 'A card that is not verified, is older or requires less of callers waits until somebody accepts it. ' +
        `Any other ${widening}`
    : `A ${widening}`
}

/** Describes what the signatures of a remote card have shown, one sentence an item. */
export const describeVerification = ({ verify, verification }: Source): string[] => {
  if (verify === undefined) return ['The signatures of the card are not verified: set `upstream.keys` in the manifest.']
  const consequence =
    verify === 'require'
      ? 'A card without a valid signature is not served.'
      : 'A card without a valid signature is served all the same: `upstream.verify` is `warn`.'
  if (verification === undefined) return [consequence]
  const { verified, key, rule, reason, accepted } = verification
  const found = verified
    ? `The card is signed with the key \`${key?.kid}\` from \`${key?.from}\` (rule \`${rule}\`).`
    : `The card is not verified: ${reason}.${accepted ? ' Somebody has accepted it as it is.' : ''}`
  return [shorten(found, 1000), consequence]
}

/** Describes how the calls of an agent ended, one sentence an item. */
export const describeObserved = (observed: Omit<Observed, 'id'>): string[] => {
  const { calls, errorRate, failures, streaming, pushNotifications, interfaces, operations, mediaTypes } = observed
  if (calls === 0) return ['No calls in the last 30 days. Calls are seen if they pass through this host.']
  const subjects: (readonly [string, Observed['streaming']])[] = [
    ['Streams', streaming],
    ['Push notifications', pushNotifications],
    ...interfaces.map(each => [`${each.protocolBinding} in A2A ${each.protocolVersion}`, each] as const),
    ...Object.entries(operations).map(([name, outcomes]) => [`The operation \`${name}\``, outcomes] as const),
  ]
  const rate = `${Number((errorRate * 100).toFixed(1))} %`
  const produced = byCount(mediaTypes).map(([type, count]) => `\`${type}\` (${plural(count, 'time')})`)
  const kinds = byCount(failures).map(([kind, count]) => `${plural(count, 'call')} with \`${kind}\``)
  return [
    errorRate === 0 ? 'Every call had a result.' : `${rate} of the calls had no result: ${listWords(kinds)}.`,
    ...subjects.flatMap(([subject, outcomes]) => describeOutcomes(subject, outcomes)),
    ...(produced.length === 0 ? [] : [`The agent produced ${listWords(produced)}.`]),
  ]
}

const byCount = (counts: Readonly<Record<string, number>>): [string, number][] =>
  Object.entries(counts).sort(([, a], [, b]) => b - a)

const describeOutcomes = (subject: string, outcomes: Observed['streaming']): string[] => {
  const { answered, refused, failed } = outcomes
  const labeled = Object.entries({ answered, 'refused as not supported': refused, failed })
  const parts = labeled.flatMap(([label, count]) => (count > 0 ? `${count} ${label}` : []))
  return parts.length === 0 ? [] : [`${subject}: ${listWords(parts)}.`]
}

/** Every kind of audit entry as a sentence whose subject is the actor. */
export const ACTIONS: Readonly<Record<string, string>> = {
  'agent-registered': 'registered the agent',
  'agent-changed': 'changed the agent',
  'agent-removed': 'removed the agent',
  'card-accepted': 'accepted a pending card',
  'agent-rolled-back': 'went back to an earlier revision',
  'tasks-cleared': 'cleared the owners of its tasks',
  'token-issued': 'issued a token',
  'token-revoked': 'revoked a token',
  'write-refused': 'was refused',
  'registry-imported': 'imported a registry',
}

/** Details of an audit entry that people read; digests are for programs. */
const DETAILS = ['class', 'restored', 'token', 'scopes', 'agents', 'tiers', 'expires', 'code', 'status', 'omitted']

/** Describes the details of an entry of the audit, as `name: value`. */
export const describeDetails = ({ details = {} }: Pick<AuditEntry, 'details'>): string => {
  const values = DETAILS.map(name => [name, [details[name] ?? []].flat().join(', ')])
  const shown = values.filter(([, text]) => text !== '').map(([name, text]) => `${name}: ${text}`)
  return shorten(shown.join(' · '), 500)
}

/** Describes whether the newest entry of the audit is signed. */
export const describeHead = (head: { number: number; signature?: string | undefined } | null): string => {
  if (!head) return 'Nothing is recorded yet.'
  const newest = `The newest entry is number ${head.number}`
  return head.signature === undefined
    ? `${newest}. It is not signed, because this host has no key to sign with.`
    : `${newest}, and this host has signed it: it fixes all entries before. In a clone of this host, ` +
        '`npx sync-card audit verify` checks the chain and the signature.'
}

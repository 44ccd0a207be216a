import { type PayloadRule, payloadRules, type signedNames } from '../../card/model/index.ts'
import {
  findSdkVerdicts,
  listSignatures,
  type PublicKey,
  parseHeader,
  payloads,
  readKeys,
  type SignatureResult,
  signedRules,
  verifySignatures,
} from '../../card/signatures/index.ts'
import { parseUrl } from '../../http/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { findSigningKeys } from '../../signing/index.ts'
import { keySecrets } from '../../variables.ts'
import { shorten } from '../components/index.ts'

/** The signers of the documents of a card, each key once, and the SDKs that accept it with the keys of this host. */
export type CardSigning = Awaited<ReturnType<typeof findSigning>>

/** The signatures by one key. */
export type Signer = ReturnType<typeof describeSigner>

type SignedDocumentName = Exclude<(typeof signedNames)[number], 'agent.json'>

/** The documents of a card whose signatures clients verify. */
export type SignedDocuments<Document> = Readonly<Record<SignedDocumentName, Document>>

/** More of a name or an address says nothing to people; an isolate keeps what it found. */
const MAX_TEXT_LENGTH = 1000

/** `host` made a valid signature with a key of this host, `invalid` another that names one, `author` all others. */
type SignedBy = 'host' | 'author' | 'invalid'

type Found = { name: SignedDocumentName; by: SignedBy; result: SignatureResult }

/** Finds out who signed the documents of a card. `origins` are those of this host. */
export const findSigning = async (documents: SignedDocuments<JsonObject>, origins: readonly string[], env: Env) => {
  const { published = [] } = (await findSigningKeys(env)) ?? {}
  const read = await readKeys([...published], 'this host')
  const keys = 'keys' in read ? read.keys : []
  const found: Found[] = []
  const bound = (name: SignedDocumentName) => boundSignatures(documents[name], keys)
  const bounded = { 'agent-card.json': bound('agent-card.json'), '1.0': bound('1.0'), '0.3': bound('0.3') }
  for (const [name, document] of Object.entries(bounded) as [SignedDocumentName, JsonObject][])
    for (const result of await verifySignatures(document, keys))
      found.push({ name, by: attribute(result, keys, origins), result })
  const byKey = Map.groupBy(found, ({ by, result: { kid, alg, jku } }) => JSON.stringify([by, kid, alg, jku]))
  const hasOwn = found.some(({ by }) => by !== 'author')
  const served = { plain: bounded['agent-card.json'], current: bounded['1.0'] }
  return {
    signers: [...byKey.values()].map(describeSigner),
    /** Absent where no signature names a key of this host: it does not know the keys of authors. */
    ...(hasOwn && { verdicts: await findSdkVerdicts(served, keys) }),
  }
}

/** Signatures of one document that this host makes: by each rule with each key. */
const MAX_OWN_SIGNATURES = keySecrets.length * signedRules.length

/** Leaves out signatures that name a key of this host beyond those that it makes: to verify forged ones takes long. */
const boundSignatures = (document: JsonObject, keys: readonly PublicKey[]): JsonObject => {
  let own = 0
  const signatures = listSignatures(document).filter(signature => {
    const read = parseHeader(signature)
    return 'reason' in read || !keys.some(({ kid }) => kid === read.header.kid) || ++own <= MAX_OWN_SIGNATURES
  })
  return { ...document, signatures }
}

/** Returns who made a signature. It names a key of this host by its `kid`, or by the address of the keys. */
const attribute = (result: SignatureResult, keys: readonly PublicKey[], origins: readonly string[]): SignedBy => {
  if (result.valid) return 'host'
  const origin = result.jku === undefined ? undefined : parseUrl(result.jku)?.origin
  const isOwn = keys.some(({ kid }) => kid === result.kid) || (origin !== undefined && origins.includes(origin))
  return isOwn ? 'invalid' : 'author'
}

const describeSigner = (found: readonly Found[]) => {
  const [first] = found
  const { kid, alg, jku } = first?.result ?? {}
  const valid = new Set(found.flatMap(({ result }) => (result.valid ? [result.rule] : [])))
  const rules = payloadRules.filter(rule => valid.has(rule))
  return {
    by: first?.by ?? 'author',
    ...(kid !== undefined && { kid: shorten(kid, MAX_TEXT_LENGTH) }),
    ...(alg !== undefined && { alg: shorten(alg, MAX_TEXT_LENGTH) }),
    ...(jku !== undefined && jku.length <= MAX_TEXT_LENGTH && { jku }),
    documents: [...new Set(found.map(({ name }) => name))],
    /** The extents of valid ones, as phrases, and the rules by which they cover them, the largest first. */
    covers: [...Map.groupBy(rules, describeRule)],
    /** The reasons why others are not valid, as clauses about a signature. */
    reasons: [...new Set(found.flatMap(({ result }) => (result.valid ? [] : [result.reason])))],
  }
}

const describeRule = (rule: PayloadRule): string => {
  const { omits } = payloads[rule]
  return omits === undefined ? 'the whole card' : `all but ${omits}`
}

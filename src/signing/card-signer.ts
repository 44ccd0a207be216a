import type { Compiled } from '../card/compile/index.ts'
import type { Manifest } from '../card/manifest/index.ts'
import { type Finding, signedNames } from '../card/model/index.ts'
import { type CardSigner, KEY_SET_PATH } from '../card/signatures/index.ts'
import { config, type Variables } from '../config.ts'
import { isLocalName, parseUrl } from '../http/index.ts'
import { getSigningKeys, type KeyEnv, nameSigners } from './signing-keys.ts'

/** The signer of the cards of an agent, or why there is none. `signers` names the keys of the host at that time. */
export type Signing = { signers: string } & ({ signer: CardSigner } | { unsigned: string })

/** The part of a manifest that decides how cards are signed. */
export type SigningTerms = Pick<Manifest, 'signatures' | 'hosts'>

/** Returns what signs the cards of an agent, whose URLs have an origin. `known` are earlier signatures, by digest. */
export const createSigning = async (
  { manifest, origin }: { manifest: SigningTerms; origin: string },
  known: CardSigner['known'],
  env: KeyEnv & Variables,
): Promise<Signing> => {
  const keys = await getSigningKeys(env)
  const signers = nameSigners(keys)
  if ('misconfigured' in keys) return { signers, unsigned: keys.misconfigured }
  if (manifest.signatures === 'strip') return { signers, unsigned: 'The manifest has `signatures: strip`.' }
  if (!isOwnOrigin(origin, manifest, env)) return { signers, unsigned: UNKNOWN_ORIGIN }
  const used = [keys.current, ...(keys.previous ? [keys.previous] : [])]
  return { signers, signer: { keys: used, jku: `${origin}${KEY_SET_PATH}`, known, made: new Map() } }
}

/** Describes in a report which documents of an agent this host signs: those without signatures of their author. */
export const describeSigning = (signing: Signing, documents: Compiled['documents']): Finding[] => {
  if ('unsigned' in signing) return [{ pointer: '', message: `not signed by this host. ${signing.unsigned}` }]
  const names = signedNames.filter(name => documents[name].signatures === undefined)
  if (names.length === 0) return []
  const { keys } = signing.signer
  const kids = `${keys.length === 1 ? 'key' : 'keys'} ${keys.map(({ kid }) => kid).join(', ')}`
  return [{ pointer: '', message: `${names.join(', ')} signed by this host with the ${kids}` }]
}

const UNKNOWN_ORIGIN =
  'This host does not know under which name it is public: ' +
  'set PUBLIC_URL in wrangler.toml, or give the agent a host name in `hosts`.'

/**
 * Checks whether the owner of the host has chosen the origin of an agent's URLs. Clients choose the host name of a
 * request, so nothing is signed that contains it, except on a development machine.
 */
export const isOwnOrigin = (origin: string, { hosts }: Pick<Manifest, 'hosts'>, env: Variables): boolean => {
  const hostname = parseUrl(origin)?.hostname ?? ''
  return config(env).publicOrigin === origin || hosts.includes(hostname) || isLocalName(hostname)
}

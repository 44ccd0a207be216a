import type { Compiled } from '../card/compile/index.ts'
import type { Manifest } from '../card/manifest/index.ts'
import { type Note, signedNames } from '../card/model/index.ts'
import { type CardSigner, KEY_SET_PATH } from '../card/signatures/index.ts'
import { config, type Variables } from '../config.ts'
import { isLocalName, parseUrl } from '../http/index.ts'
import { getSigningKeys, type KeyEnv, nameSigners } from './keys.ts'

/** How the cards of an agent are signed: by whom, or why not. `signers` names the keys of the host that it was decided with. */
export type Signing = { signers: string } & ({ signer: CardSigner } | { unsigned: string })

/** The agent whose cards are signed, and the origin of this host's URLs in them. */
type SignedAgent = { manifest: SigningTerms; origin: string }

/** The part of a manifest that decides how cards are signed. */
export type SigningTerms = Pick<Manifest, 'signatures' | 'hosts'>

/** Returns what signs the cards of an agent. `known` are signatures that were made before, by their digests. */
export const createSigning = async (
  { manifest, origin }: SignedAgent,
  known: CardSigner['known'],
  env: KeyEnv & Variables,
): Promise<Signing> => {
  const keys = await getSigningKeys(env)
  const signers = nameSigners(keys)
  if ('misconfigured' in keys) return { signers, unsigned: keys.misconfigured }
  if (manifest.signatures === 'strip') return { signers, unsigned: 'The manifest has `signatures: strip`.' }
  if (!isOwnOrigin(origin, manifest, env)) return { signers, unsigned: UNKNOWN_ORIGIN }
  const { current, previous } = keys
  return {
    signers,
    signer: {
      keys: [current, ...(previous ? [previous] : [])],
      jku: `${origin}${KEY_SET_PATH}`,
      known,
      made: new Map(),
    },
  }
}

/** Describes in a report which documents of an agent this host signs: those without signatures of their author. */
export const describeSigning = (signing: Signing, documents: Compiled['documents']): Note[] => {
  const note = (message: string): Note => ({ pointer: '', message })
  if ('unsigned' in signing) return [note(`not signed by this host. ${signing.unsigned}`)]
  const names = signedNames.filter(name => documents[name].signatures === undefined)
  if (names.length === 0) return []
  const kids = signing.signer.keys.map(({ kid }) => kid)
  return [
    note(`${names.join(', ')} signed by this host with the ${kids.length === 1 ? 'key' : 'keys'} ${kids.join(', ')}`),
  ]
}

const UNKNOWN_ORIGIN =
  'This host does not know under which name it is public: set PUBLIC_URL in wrangler.toml, or give the agent a host name in `hosts`.'

/**
 * Whether the origin of an agent's URLs is one that the owner of the host has decided on. The host name of a request is the choice of
 * whoever makes it, so nothing is signed that contains it, but on a development machine.
 */
export const isOwnOrigin = (origin: string, { hosts }: Pick<Manifest, 'hosts'>, env: Variables): boolean => {
  const hostname = parseUrl(origin)?.hostname ?? ''
  return config(env).publicOrigin === origin || hosts.includes(hostname) || isLocalName(hostname)
}

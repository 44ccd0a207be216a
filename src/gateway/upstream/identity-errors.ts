import type { Manifest } from '../../card/manifest/index.ts'
import type { CardError } from '../../card/model/index.ts'
import { config, type Variables } from '../../config.ts'
import type { KeyEnv } from '../../signing/index.ts'

/** Returns why this host cannot assert the callers of an agent whose manifest asks for it, as errors of the manifest. */
export const findIdentityErrors = async (
  { upstream, hosts }: Manifest,
  env: KeyEnv & Variables,
): Promise<CardError[]> => {
  if (upstream.identity === undefined) return []
  // Loaded on first use, because few manifests ask for it.
  const { getSigningKeys } = await import('../../signing/signing-keys.ts')
  const keys = await getSigningKeys(env)
  const messages = [
    // The host name of a request is the caller's choice, so it must not become the issuer.
    ...(config(env).publicOrigin || hosts.some(host => host !== '*') ? [] : [noIssuer]),
    ...('misconfigured' in keys ? [`needs a key to sign with. ${keys.misconfigured}`] : []),
  ]
  return messages.map(message => ({ pointer: '/upstream/identity', message }))
}

const noIssuer =
  'needs a public origin of this host as the issuer: set PUBLIC_URL in wrangler.toml, or give the agent a host name in `hosts`'

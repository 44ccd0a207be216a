import { config, type Variables } from '../../config.ts'
import { problem } from '../../http/index.ts'
import { getRegistry, type SigningState } from '../../registry/store/index.ts'
import { getSigningKeys, listKeys, nameSigners, type SigningKeys } from '../../signing/index.ts'
import { endpoint, json } from '../contract/index.ts'
import { HostKeys } from '../schemas/index.ts'

/** `GET /keys`: the keys of this host. It also wakes the Registry, which signs the cards again if keys have changed. */
export const getKeys = endpoint(
  {
    tag: 'administration',
    summary: 'Get the roles of the keys with which this host signs',
    access: 'admin',
    responses: { 200: json('The keys, without their private parts.', HostKeys) },
    problems: ['no-signing-key'],
  },
  async ({ env }) => {
    const now = Date.now()
    const keys = await getSigningKeys(env, now)
    // Unlike everybody else, an administrator gets the reason.
    if ('misconfigured' in keys) return problem('no-signing-key', keys.misconfigured)
    const state = await getRegistry(env).signingState(nameSigners(keys))
    return { body: describeKeys(keys, state, cardCacheSeconds(env), now) }
  },
)

/** Returns for how long KV's cache and an isolate (60 s), or then a client, may serve a card after it was replaced. */
export const cardCacheSeconds = (env: Variables): number => 60 + config(env).cacheSeconds

/**
 * Describes the keys of a host. The previous key is retirable once no cache serves a card that it signed alone: those
 * were served until the last agent was signed again with the current key. `now` is in ms since 1970.
 */
export const describeKeys = (keys: SigningKeys, state: SigningState, cacheSeconds: number, now: number) => {
  const replaced = Math.max(keys.current.signsFrom, state.resigned)
  const retirable = new Date(replaced + cacheSeconds * 1000).toISOString()
  return {
    keys: listKeys(keys).map(({ kid, role, secret, signsFrom }) => ({
      ...{ kid, role, secret },
      ...(signsFrom > 0 && { signsFrom: new Date(signsFrom).toISOString() }),
      ...(role === 'previous' && { retirable }),
    })),
    ...(keys.problem !== undefined && { problem: keys.problem }),
    unsigned: state.unsigned,
    cacheSeconds,
    time: new Date(now).toISOString(),
  }
}

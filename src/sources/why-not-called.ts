import type { Source } from '../card/manifest/source.ts'
import type { CardError } from '../card/model/report.ts'
import { log } from '../http/log.ts'
import { blockReason } from '../http/safe-fetch.ts'

/** Why a source is refused before it is asked: its address alone says that this host does not call it. The log says why. */
export const checkSourceAllowed = (
  { kind, url, service }: Source,
  env: Pick<Env, 'ALLOWED_ORIGINS'>,
): CardError | undefined => {
  const why = service === undefined ? blockReason(url, env.ALLOWED_ORIGINS) : undefined
  if (why === undefined) return undefined
  log('warn', 'source-blocked', { why })
  return {
    pointer: `/upstream/${kind}`,
    message: 'is an address that this host does not call: it calls public names over https (docs/fetch-guard.md)',
  }
}

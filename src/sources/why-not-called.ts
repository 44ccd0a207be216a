import type { CardError } from '../card/report.ts'
import type { Source } from '../card/source.ts'
import { whyBlocked } from '../http/fetch-guard.ts'
import { log } from '../http/log.ts'

/** Why a source is refused before it is asked: its address alone says that this host does not call it. The log says why. */
export const whyNotCalled = (
  { kind, url, service }: Source,
  env: Pick<Env, 'ALLOWED_ORIGINS'>,
): CardError | undefined => {
  const why = service === undefined ? whyBlocked(url, env.ALLOWED_ORIGINS) : undefined
  if (why === undefined) return undefined
  log('warn', 'source-blocked', { why })
  return {
    pointer: `/upstream/${kind}`,
    message: 'is an address that this host does not call: it calls public names over https (docs/fetch-guard.md)',
  }
}

import { log } from '../../http/log.ts'

/** Makes the next reader of any public list see what was just written. */
export const purgeLists = (ctx: Pick<ExecutionContext, 'waitUntil' | 'exports'>): void =>
  ctx.waitUntil(
    ctx.exports
      .Catalog({ props: {} })
      .purge()
      .catch((error: unknown) => log('error', 'purge-failed', { error: String(error) })),
  )

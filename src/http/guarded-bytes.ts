import { boundedBody } from './body.ts'
import { type Answer, type FetchFailure, type FetchOptions, guardedAnswer } from './fetch-resource.ts'

/** GETs a small file through the guard, such as an agent's icon: as `guardedAnswer`. Never rejects. */
export const guardedBytes = (url: string, options: FetchOptions): Promise<Answer<Uint8Array> | FetchFailure> =>
  guardedAnswer(url, options, async (response, maxBytes) => {
    const content = await boundedBody(response, maxBytes)
    return content === undefined ? { failed: 'too-large', detail: `more than ${maxBytes} bytes` } : { content }
  })

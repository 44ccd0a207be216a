import { boundedText } from './bounded-text.ts'
import { type Answer, type FetchFailure, type FetchOptions, guardedAnswer } from './fetch-resource.ts'

/** GETs a text through the guard: as `guardedAnswer`, and UTF-8; a BOM is no part of it. Never rejects. */
export const guardedText = (url: string, options: FetchOptions): Promise<Answer<string> | FetchFailure> =>
  guardedAnswer(url, options, async (response, maxBytes) => {
    const read = await boundedText(response, maxBytes)
    if ('text' in read) return { content: read.text }
    return read.failed === 'too-large'
      ? { failed: 'too-large', detail: `more than ${maxBytes} bytes` }
      : { failed: 'not-text', detail: 'not UTF-8' }
  })

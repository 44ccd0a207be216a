import { readText } from './bounded-text.ts'
import { type FetchFailure, type FetchOptions, fetchResource, type Resource } from './fetch-resource.ts'

/** GETs a text through the guard: as `guardedAnswer`, and UTF-8; a BOM is no part of it. Never rejects. */
export const fetchText = (url: string, options: FetchOptions): Promise<Resource<string> | FetchFailure> =>
  fetchResource(url, options, async (response, maxBytes) => {
    const read = await readText(response, maxBytes)
    if ('text' in read) return { content: read.text }
    return read.failed === 'too-large'
      ? { failed: 'too-large', detail: `more than ${maxBytes} bytes` }
      : { failed: 'not-text', detail: 'not UTF-8' }
  })

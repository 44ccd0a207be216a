import { readBytes } from './body.ts'
import { type FetchFailure, type FetchOptions, fetchResource, type Resource } from './fetch-resource.ts'

/** GETs a small file through the guard, such as an agent's icon: as `guardedAnswer`. Never rejects. */
export const fetchBytes = (url: string, options: FetchOptions): Promise<Resource<Uint8Array> | FetchFailure> =>
  fetchResource(url, options, async (response, maxBytes) => {
    const content = await readBytes(response, maxBytes)
    return content === undefined ? { failed: 'too-large', detail: `more than ${maxBytes} bytes` } : { content }
  })

import { noStore } from './caching.ts'
import { callCors } from './cors.ts'

/** What every answer to a call says, most often all that it says: copied from here they cost the runtime half. */
const always = new Headers({ ...callCors, 'Cache-Control': noStore, 'Content-Type': 'application/json' })

/** The response to a call: JSON that nobody keeps and any page may read, unless its headers are changed. */
export const callAnswer = (body: BodyInit | null, status: number): Response =>
  new Response(body, { status, headers: always })

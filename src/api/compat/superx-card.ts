import { HttpError } from '../../http/errors.ts'
import type { Handler } from '../../http/handler.ts'
import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { type CardRequest, cardFor } from '../cards.ts'
import type { RpcProblem } from './superx-errors.ts'

/** An agent's card in SuperX's dialect, as its reader gets it, with its length in bytes; or why there is none for it. */
export const superxCard = async (
  id: string,
  reading: CardRequest,
  ...asking: Parameters<Handler>
): Promise<{ card: JsonObject; length: number } | { problem: RpcProblem }> => {
  try {
    const served = await cardFor(id, 'superx', ...asking, reading)
    const card: unknown = served && JSON.parse(new TextDecoder().decode(served.body))
    const length = served?.body.byteLength ?? 0
    return isJsonObject(card) ? { card, length } : { problem: { refused: 'unknown-agent', agent: id } }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    const { status, code, message } = error
    // Of these three, what this host itself cannot read is no fault of the source's.
    if (code === 'unavailable' || (status !== 502 && status !== 503 && status !== 504)) return { problem: error }
    return { problem: { failed: 'source', agent: id, failure: { status, message } } }
  }
}

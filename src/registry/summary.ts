import type { Compiled } from '../card/compile/index.ts'
import type { Summary } from './records.ts'

/** What lists tell of an agent, in the words of its own documents where a list is a dialect's. */
export const summaryOf = ({ card, documents }: Pick<Compiled, 'card' | 'documents'>): Summary => {
  const { name, description, version, supportedInterfaces } = card
  const url = supportedInterfaces[0]?.url ?? ''
  const { shaman, superx } = documents
  return {
    name,
    description,
    version,
    url,
    protocol: textOr('a2a', superx.protocol),
    shaman: { url: textOr(url, shaman.url), preferredTransport: textOr('JSONRPC', shaman.preferredTransport) },
  }
}

const textOr = (otherwise: string, value: unknown): string => (typeof value === 'string' ? value : otherwise)

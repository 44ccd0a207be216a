import type { CardError } from '../card/model/report.ts'
import type { SourceFailure } from '../registry/source-failure.ts'

/** What an owner is told of a card that was had, but that cannot be served. */
export const invalidCard = (errors: CardError[]): SourceFailure => {
  const [first] = errors
  const why = first ? ` ${first.pointer || 'The document'} ${first.message}.` : ''
  return { status: 502, code: 'invalid-card', message: `The card that came cannot be served.${why}`, errors }
}

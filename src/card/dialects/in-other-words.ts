import type * as v from 'valibot'
import { readCard } from '../read/card.ts'
import { applyAliases, type Vocabulary } from '../read/field-names.ts'
import { pickV0Interface } from '../read/interfaces.ts'
import { checkFields, sharedFields } from './check-fields.ts'
import type { Dialect } from './dialect.ts'
import { writeV0 } from './v0-base.ts'

/** A dialect that is v0.3 in other words and with fields of its own; what its author wrote comes back as it was. */
export const defineV0Dialect = (
  vocabulary: Vocabulary,
  fields: v.ObjectEntries,
): Required<Pick<Dialect, 'read' | 'write' | 'writeAuthored'>> => ({
  read: (card, reading) => {
    checkFields(card, { ...sharedFields, ...fields }, reading)
    return readCard(card, '0.3', reading)
  },
  write: card => {
    const { document, dropped } = writeV0(card, pickV0Interface(card.supportedInterfaces))
    return { document: applyAliases(document, vocabulary), dropped }
  },
  writeAuthored: authored => authored,
})

import * as v from 'valibot'
import { agentIdPattern, changeClasses, revisionNumber, wholeNumber } from '../../card/model/index.ts'
import { parseHostJson } from '../../json/index.ts'

// What an export may have in the columns of the tables: a row that no write could have stored is not imported.

export const text = v.string()
export const count = wholeNumber(0)

/** Keys of KV and names of objects are made of ids. */
export const agentId = v.pipe(text, v.regex(agentIdPattern, 'must be the id of an agent'))
export const digest = v.pipe(text, v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'))
const quoted = 'must be an entity tag: a SHA-256 in hexadecimal, in quotes'
export const etag = v.pipe(text, v.regex(/^"[0-9a-f]{64}"$/, quoted))
export const flag = v.picklist([0, 1], 'must be 0 or 1')

/** The tier of a card; that of the public one is empty. */
export const tier = v.pipe(text, v.regex(/^(?:[a-z][a-z0-9-]{0,31})?$/, 'must be the name of a tier'))

/** The class of a change. */
export const changeClass = v.picklist(changeClasses, 'must be breaking, additive or cosmetic')

/** The columns of what belongs to a revision. */
export const ofRevision = { id: agentId, seq: revisionNumber }

/** A column of JSON. The row keeps its text. */
export const json = <Output>(schema: v.GenericSchema<unknown, Output>) =>
  v.pipe(
    v.string('must be JSON, as a string'),
    v.rawTransform<string, unknown>(({ dataset, addIssue, NEVER }) => {
      const value = parseHostJson(dataset.value)
      if (value !== undefined) return value
      addIssue({ message: 'must be JSON' })
      return NEVER
    }),
    schema,
  )

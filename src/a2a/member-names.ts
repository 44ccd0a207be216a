import { foldCase } from './message.ts'

/** Folds the names that an agent might read as one: in any case, with any separators, and as an item of a list in a query. */
export const foldName = (name: string): string =>
  foldCase(name)
    .replace(/\[\d*\]/g, '')
    .replace(/[^a-z0-9]/g, '')

const FREE_FORM = new Set(['metadata', 'parts', 'content', 'extensions', 'authentication'])

/** Checks whether A2A leaves the content of a member to its caller, or to schemes of authentication. The name is folded. */
export const isFreeForm = (folded: string): boolean => FREE_FORM.has(folded)

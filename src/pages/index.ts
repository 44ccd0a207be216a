import { endpoint } from '../api/contract/index.ts'
import { problem } from '../http/index.ts'
import { described, withErrorPages } from './layout/index.ts'

export { getCardPage } from './card/index.ts'
export { getCatalogPage } from './catalog/index.ts'
export { getLintPage } from './lint-page.tsx'
export { getManagePage } from './manage-page.tsx'

/** Any path without an endpoint, for browsers. */
export const getNotFoundPage = withErrorPages(
  endpoint({ ...described, summary: 'Get the page of an unknown address', problems: ['not-found'] }, () =>
    problem('not-found', 'This host has no page with this address.'),
  ),
)

import { type Handler, HttpError, toHttpError } from '../http/index.ts'
import { getCardPage as cardPage } from './card/index.ts'
import { getCatalogPage as catalogPage } from './catalog/index.ts'
import { countPage, errorPage } from './layout/index.ts'
import { getLintPage as lintPage } from './lint.ts'
import { getManagePage as managePage } from './manage.ts'

/** Returns a handler that counts each page of a client, and answers errors with pages. */
const page =
  (handler: Handler): Handler =>
  async (request, env, ...rest) => {
    try {
      await countPage(request, env)
      return await handler(request, env, ...rest)
    } catch (error) {
      const httpError = toHttpError(error)
      if (!httpError) throw error
      return errorPage(httpError, request)
    }
  }

export const getCatalogPage = page(catalogPage)
export const getCardPage = page(cardPage)
export const getLintPage = page(lintPage)
export const getManagePage = page(managePage)

/** Any path without an endpoint, for browsers. */
export const getNotFoundPage = page(() => {
  throw new HttpError(404, 'not-found', 'This host has no page with this address.')
})

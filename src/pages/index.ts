import { HttpError, toHttpError } from '../http/errors.ts'
import type { Handler } from '../http/handler.ts'
import { getCardPage as cardPage } from './card/index.ts'
import { getCatalogPage as catalogPage } from './catalog/index.ts'
import { errorPage } from './layout/error-page.ts'
import { getLintPage as lintPage } from './lint.ts'
import { getManagePage as managePage } from './manage.ts'

/** Answers the errors of a page with pages. */
const withErrorPage =
  (handler: Handler): Handler =>
  async (request, ...rest) => {
    try {
      return await handler(request, ...rest)
    } catch (error) {
      const httpError = toHttpError(error)
      if (!httpError) throw error
      return errorPage(httpError, request)
    }
  }

export const getCatalogPage = withErrorPage(catalogPage)
export const getCardPage = withErrorPage(cardPage)
export const getLintPage = withErrorPage(lintPage)
export const getManagePage = withErrorPage(managePage)

/** Any path without an endpoint, for browsers. */
export const getNotFoundPage: Handler = request =>
  errorPage(new HttpError(404, 'not-found', 'This host has no page with this address.'), request)

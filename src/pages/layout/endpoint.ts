import { type Described, endpoint, HTML, withContent } from '../../api/contract/index.ts'
import { config } from '../../config.ts'
import { type Handler, toHttpError } from '../../http/index.ts'
import { errorPage, type Page, pageResponse } from './page.tsx'

/** What all pages have in common, as endpoints. */
export const described = {
  tag: 'pages',
  access: 'public',
  responses: { 200: withContent('The page.', HTML) },
  validated: true,
  raw: true,
  limits: ['PAGE_LIMIT'],
} as const

/** Returns an endpoint that answers its errors with pages, too. */
export const withErrorPages = <Params extends string>(
  endpoint: Handler & Described<Params>,
): Handler & Described<Params> => {
  const handle: Handler = async (request, ...rest) => {
    try {
      return await endpoint(request, ...rest)
    } catch (error) {
      const httpError = toHttpError(error)
      if (!httpError) throw error
      return errorPage(httpError, request)
    }
  }
  return Object.assign(handle, { description: endpoint.description })
}

/** Returns the endpoint of a page that is the same for all, and does its work in a script. */
export const scriptPage = (summary: string, page: (request: Request) => Page) =>
  withErrorPages(
    endpoint({ ...described, summary }, ({ request, env }) =>
      pageResponse(page(request), request, { cacheControl: config(env).publicCacheControl }),
    ),
  )

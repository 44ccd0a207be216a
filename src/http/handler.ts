import type { IRequest } from 'itty-router'

/** A request as the router passes it on, with its path parameters and query. */
export type RoutedRequest = IRequest & Request

/** An endpoint. Errors for clients are thrown as HttpError. */
export type Handler = (request: RoutedRequest, env: Env, ctx: ExecutionContext) => Promise<Response> | Response

/** What a handler is called with, as one value for functions that need more besides. */
export type RequestContext<R extends Request = Request> = { request: R; env: Env; ctx: ExecutionContext }

/** Returns an endpoint whose module is loaded on first use, so that rare endpoints do not slow down the start. */
export const lazy =
  <Name extends string>(load: () => Promise<Record<Name, Handler>>, name: Name): Handler =>
  async (request, env, ctx) =>
    (await load())[name](request, env, ctx)

import type { IRequest } from 'itty-router'

/** A request, and where it came. */
export type Asking = [request: Request, env: Env, ctx: ExecutionContext]

/** One endpoint: a request in, a response out. Errors for clients are thrown as HttpError. */
export type Handler = (request: IRequest & Request, env: Env, ctx: ExecutionContext) => Promise<Response> | Response

/** An endpoint of a module that is loaded when it is first asked: what few requests need costs a start nothing. */
export const lazy =
  <Name extends string>(load: () => Promise<Record<Name, Handler>>, name: Name): Handler =>
  async (...asking) =>
    (await load())[name](...asking)

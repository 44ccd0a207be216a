import type { IRequest } from 'itty-router'

/** A request, and where it came. */
export type Asking = [request: Request, env: Env, ctx: ExecutionContext]

/** One endpoint: a request in, a response out. Errors for clients are thrown as HttpError. */
export type Handler = (request: IRequest & Request, env: Env, ctx: ExecutionContext) => Promise<Response> | Response

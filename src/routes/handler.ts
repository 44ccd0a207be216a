import type { IRequest } from 'itty-router'

/** One endpoint: a request in, a response out. Errors for clients are thrown as HttpError. */
export type Handler = (request: IRequest & Request, env: Env, ctx: ExecutionContext) => Promise<Response> | Response

import type { ServerTiming } from './server-timing.ts'

/** The variable segments of a request's path by name, percent-encoded as they were sent. */
export type PathParams = Readonly<Record<string, string | undefined>>

/** An endpoint. Errors for clients are thrown as HttpError. */
export type Handler = (
  request: Request,
  env: Env,
  ctx: ExecutionContext,
  params: PathParams,
) => Promise<Response> | Response

/** What a handler is called with, as one value for functions that need more besides. */
export type RequestContext = {
  request: Request
  env: Env
  ctx: ExecutionContext
  /** Measures the request, if its client prefers that. */
  timing?: ServerTiming | undefined
}

/** Starts to measure a request if its client may prefer that. Loaded on first use, because few clients do. */
export const startTiming = ({ headers }: Request): Promise<ServerTiming | undefined> | undefined =>
  headers.has('Prefer')
    ? import('./server-timing.ts').then(({ ServerTiming }) => ServerTiming.start(headers))
    : undefined

/** Returns an endpoint whose module is loaded on first use, so that rare endpoints do not slow down the start. */
export const lazy =
  <Name extends string>(load: () => Promise<Record<Name, Handler>>, name: Name): Handler =>
  async (...args) =>
    (await load())[name](...args)

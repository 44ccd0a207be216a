import type { Handler } from '../../http/start.ts'
import type { Description } from './description.ts'
import type { ParamsOf } from './shared.ts'

/** What has a description. `Params` are the names of the parameters in its path. */
export type Described<Params extends string = string> = {
  description: Description
  /** Only for the type. */
  params?: (name: Params) => Params
}

/** The description of an endpoint, and the name by which generated clients call it. */
export type NamedDescription = Description & {
  id: string
  /** At its path, there is a page for people, too. */
  page?: true
}

/** A handler, and how its description is found, which only documents load. */
export type RouteHandler<Params extends string = string> = {
  handler: Handler
  describe: () => Promise<NamedDescription>
  params?: (name: Params) => Params
}

type ParamsIn<Endpoint> = Endpoint extends { params?: (name: infer Params extends string) => string } ? Params : never

/** Returns an endpoint whose module is loaded on first use, so that rare endpoints do not slow down the start. */
export const lazy = <
  Module extends Readonly<Record<Name, Handler & Pick<Described, 'description'>>>,
  const Name extends keyof Module & string,
>(
  load: () => Promise<Module>,
  name: Name,
): RouteHandler<ParamsIn<Module[Name]>> => eager(loadOnce(load, name), load, name)

/** Returns a handler whose module is loaded with its first request. Later requests call it without waiting. */
export const loadOnce = <const Name extends string>(
  load: () => Promise<Readonly<Record<Name, Handler>>>,
  name: Name,
): Handler => {
  let loaded: Handler | undefined
  return (request, env, ctx, params) => {
    if (loaded !== undefined) return loaded(request, env, ctx, params)
    return load().then(module => {
      loaded = module[name]
      return loaded(request, env, ctx, params)
    })
  }
}

/** Returns an endpoint whose description is in another module, because a start loads the handler without it. */
export const eager = <
  Module extends Readonly<Record<Name, Pick<Described, 'description'>>>,
  const Name extends keyof Module & string,
>(
  handler: Handler,
  load: () => Promise<Module>,
  name: Name,
): RouteHandler<ParamsIn<Module[Name]>> => ({
  handler,
  describe: async () => ({ ...(await load())[name].description, id: name }),
})

/** A row of the route table. */
export type Route = readonly [method: Method, path: string, endpoint: Omit<RouteHandler, 'params'>]

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

/** Returns a row of the route table. Endpoints without a description or with other path parameters do not compile. */
export const route = <const Path extends `/${string}`>(
  method: Method,
  path: Path,
  endpoint: RouteHandler<ParamsOf<Path>>,
): Route => [method, path, endpoint]

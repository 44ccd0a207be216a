import { cardRoutes } from './card-routes.ts'
import { hostRoutes } from './host-routes.ts'
import { registryRoutes } from './registry-routes.ts'

/** Every route of this host, by method and path. The route table in src/app.ts can have no others. */
export const operations = { ...cardRoutes, ...hostRoutes, ...registryRoutes }

/** A method and path of the route table. */
export type RouteName = keyof typeof operations

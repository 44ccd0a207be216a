export { Endpoint, misconfigured, resolveUpstream, type UpstreamRoute } from './endpoint.ts'
export * from './request.ts'

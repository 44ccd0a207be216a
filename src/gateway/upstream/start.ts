export { forward, misconfigured } from './forward.ts'
export {
  type AgentParameter,
  appendVia,
  jsonRpcMessage,
  rewriteRoutingParams,
  type TranslateAnswer,
  type UpstreamMessage,
  type UpstreamRoute,
  upstreamHeaders,
  upstreamUrl,
} from './request.ts'

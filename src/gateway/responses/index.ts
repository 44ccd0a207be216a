export {
  isEventStream,
  type ResponseOptions,
  readUpstreamResponse,
  relayStream,
  unreachable,
} from './client-response.ts'
export { ResponseCheck } from './response-check.ts'

export { hasSmallBody, JsonRpcExchange, parseBody, readBody } from './json-rpc.ts'
export { RestExchange } from './rest.ts'

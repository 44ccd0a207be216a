export { agentCall, hostCall, namedCall } from './jsonrpc-binding.ts'

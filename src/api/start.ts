export { agentNotFound, UPSTREAM_PROBLEMS } from './agent-errors.ts'
export { agentCard, hostCard, loadCard, loadCardFor } from './card-endpoints.ts'

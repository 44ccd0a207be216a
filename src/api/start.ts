export { agentNotFound, UPSTREAM_PROBLEMS } from './agent-errors.ts'
export { agentCard, hostCard, loadCard } from './card-endpoints.ts'

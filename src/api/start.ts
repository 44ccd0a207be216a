export { agentNotFound } from './agent-errors.ts'
export { agentCard, hostCard, loadCard } from './card-endpoints.ts'

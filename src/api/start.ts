export { agentCard, hostCard, loadCard } from './cards.ts'
export { agentNotFound } from './errors.ts'

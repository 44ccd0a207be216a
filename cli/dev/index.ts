export { start } from './dev-server.ts'

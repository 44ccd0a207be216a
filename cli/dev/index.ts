export * from './dev-server.ts'
export { welcome } from './welcome.ts'

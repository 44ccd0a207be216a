export { parseStateFolder, readChosenToken, writeDevConfig } from './dev-config.ts'
export * from './dev-server.ts'
export { welcome } from './welcome.ts'

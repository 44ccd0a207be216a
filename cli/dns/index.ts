export { addDns } from './command.ts'

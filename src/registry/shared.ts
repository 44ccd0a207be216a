export { TokenRecord } from './token-record.ts'

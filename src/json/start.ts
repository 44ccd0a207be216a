export * from './json.ts'
export * from './media-type.ts'
export { endOfString, isDeeperThan, parseJson, TOO_DEEP } from './parse.ts'

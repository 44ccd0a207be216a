export * from './json.ts'
export * from './media-type.ts'
export { endOfString, isDeeperThan, parseHostJson, parseJson, TOO_DEEP } from './parse.ts'

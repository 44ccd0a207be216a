export * from './deploy.ts'
export { createWrangler, type Wrangler, withLocalBin } from './wrangler.ts'

export { deploy } from './deployment.ts'
export { createWrangler, type Wrangler, withLocalBin } from './wrangler.ts'

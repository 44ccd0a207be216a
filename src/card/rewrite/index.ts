export * from './interfaces.ts'
export { resolveInterfaceUrls } from './rewrite-urls.ts'
export * from './serving.ts'

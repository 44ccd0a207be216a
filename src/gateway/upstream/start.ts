export { forward, misconfigured } from './forward.ts'
export * from './request.ts'

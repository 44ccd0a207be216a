export * from './route.ts'

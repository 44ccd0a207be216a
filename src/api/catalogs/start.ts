export * from './catalog.ts'

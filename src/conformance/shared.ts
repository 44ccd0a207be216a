export * from './observed.ts'

export * from './staleness.ts'

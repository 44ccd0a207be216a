export * from './fetch-keys.ts'

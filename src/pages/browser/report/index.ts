export * from './check-text.ts'
export * from './findings.tsx'
export * from './lint-result.ts'

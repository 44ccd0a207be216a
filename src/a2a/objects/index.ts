export * from './check.ts'
export * from './forms.ts'
export * from './start.ts'
export * from './table.ts'

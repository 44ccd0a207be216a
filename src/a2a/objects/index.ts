export * from './check.ts'
export * from './forms.ts'
export * from './table.ts'

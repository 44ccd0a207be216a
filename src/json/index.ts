export { hasDuplicateName, parseUnambiguous } from './duplicate-names.ts'
export * from './start.ts'
export * from './syntax-mistake.ts'
export * from './tree.ts'

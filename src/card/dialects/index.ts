export { detectDialect, dialects, writeRepresentations } from './representations.ts'

export * from './dialects.ts'
export { writeRepresentations } from './representations.ts'

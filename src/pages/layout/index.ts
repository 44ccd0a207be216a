export * from './endpoint.ts'
export * from './page.tsx'

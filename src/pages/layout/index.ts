export * from './assets.ts'
export * from './error-page.ts'
export * from './page.ts'

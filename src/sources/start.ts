export * from './remote-card.ts'
export * from './revalidate.ts'

export * from './remote-card.ts'

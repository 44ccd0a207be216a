export * from './card-signer.ts'
export * from './shared.ts'
export * from './signing-keys.ts'

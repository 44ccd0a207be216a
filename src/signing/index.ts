export * from './card-signer.ts'
export * from './key-set.ts'
export * from './shared.ts'
export * from './signing-keys.ts'

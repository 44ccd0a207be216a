export * from './lint-report.ts'
export { changeText, hideSecretsInChange, toJsonPatch } from './manifest-diff.ts'
export * from './sync-report.ts'

export * from './lint-report.ts'
export { changeText, diffLines, hideSecretsInChange, toJsonPatch } from './manifest-diff.ts'
export { agentText, countsText, differenceText, distinct, problemText, syncJson, syncText } from './sync-report.ts'

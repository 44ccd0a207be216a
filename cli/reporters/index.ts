export { diffMarkdown } from './diff-markdown.ts'
export * from './lint-report.ts'
export { changeText, hideSecretsInChange, toJsonPatch } from './manifest-diff.ts'
export { agentText, countsText, differenceText, distinct, problemText, syncJson, syncText } from './sync-report.ts'

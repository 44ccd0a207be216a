export { changeText, hideSecretsInChange, toJsonPatch } from './diff.ts'
export { lintJson, syncJson } from './json.ts'
export {
  collectLintResults,
  isFailure,
  type LintReport,
  type LocatedProposal,
  lintText,
  type ObservedResult,
} from './lint-text.ts'
export { diffMarkdown } from './markdown.ts'
export { receiptText } from './receipt.ts'
export { lintSarif } from './sarif.ts'
export { agentText, countsText, differenceText, distinct, problemText, syncText } from './text.ts'

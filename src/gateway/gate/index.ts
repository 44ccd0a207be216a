export * from './access.ts'
export * from './call-context.ts'
export { createOutputComparison } from './content-negotiation.ts'
export {
  evaluatePolicy,
  impliedVersions,
  preferVersionError,
  supportedVersions,
  targetOf,
  type Verdict,
} from './policy.ts'

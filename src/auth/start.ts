export * from './authenticate.ts'
export { coveredAgents, hasPermission, highestTier, isAdmin, readableTiers } from './permissions.ts'
export { ANONYMOUS, type Authentication, actorOf, distinctSubject, type Principal } from './principal.ts'
export {
  BLOCK_SECONDS,
  callerKey,
  clientKey,
  countRequest,
  countUnrecognized,
  hasKnownCredentials,
  isLimited,
  recordLimited,
  tooManyAttempts,
} from './throttle.ts'
export { containsAdminToken, createToken, createTokenFinder } from './token.ts'

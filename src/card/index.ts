export { CallProfile, missingCardProfile } from './call-profile.ts'

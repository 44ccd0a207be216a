import type { ChangeClass } from './change-rules.ts'

/** A version that does not say what has changed. */
export type VersionFinding = {
  /** The lowest version that says it; absent where the version before has no numbers to raise. */
  use?: string
  /** Continues a sentence that begins with the place of the version. */
  message: string
}

/** Major, minor and patch number, as in Semantic Versioning. Those that are left out count as zero. */
const numbers = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:[-+].{0,200})?$/

const parseVersion = (version: string): { major: number; minor: number } | undefined => {
  const [, major, minor = '0'] = numbers.exec(version.trim()) ?? []
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor) }
}

/**
 * Returns what is wrong with the version of a card after a change of a class: a breaking change needs a higher major version than
 * before, an additive one a higher minor version. Where the version before is no number, any other one will do.
 */
export const findVersionFinding = (
  changeClass: ChangeClass,
  before: string,
  after: string,
): VersionFinding | undefined => {
  if (changeClass === 'cosmetic') return undefined
  const [earlier, later] = [parseVersion(before), parseVersion(after)]
  if (earlier === undefined)
    return before === after
      ? { message: `must differ from the one before, because the change is ${changeClass}` }
      : undefined
  const isBreaking = changeClass === 'breaking'
  if (later && later.major > earlier.major) return undefined
  if (later && !isBreaking && later.major === earlier.major && later.minor > earlier.minor) return undefined
  const use = isBreaking ? `${earlier.major + 1}.0.0` : `${earlier.major}.${earlier.minor + 1}.0`
  return { use, message: `must be ${use} or higher, because the change is ${changeClass}` }
}

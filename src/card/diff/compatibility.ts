import type { ChangeClass } from './change-rules.ts'

/** A version that does not say what has changed. */
export type VersionFinding = {
  /** The lowest version that says it; absent where the version before has no numbers to raise. */
  use?: string
  /** Continues a sentence that begins with the place of the version. */
  message: string
}

/**
 * Returns what is wrong with the version of a card after a change of a class: a breaking change needs a higher major version than
 * before, and an additive one a higher minor version. Below 1.0.0, as package managers have it, that is the minor version and the
 * patch. A pre-release promises nothing: its release, or another pre-release of it, will do. Where the version before is no number,
 * any other one will do.
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
  const lowest = earlier.isPreRelease ? earlier.numbers : raise(earlier.numbers, changeClass)
  if (later && before !== after && !isLower(later.numbers, lowest)) return undefined
  const use = lowest.join('.')
  return { use, message: `must be ${use} or higher, because the change is ${changeClass}` }
}

/** Major, minor and patch number. */
type Numbers = readonly [number, number, number]

/** Semantic Versioning; numbers that are left out count as zero. */
const versionPattern = /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(-[^+]{1,200})?(?:\+.{0,200})?$/

const parseVersion = (version: string): { numbers: Numbers; isPreRelease: boolean } | undefined => {
  const [, major, minor = '0', patch = '0', preRelease] = versionPattern.exec(version.trim()) ?? []
  return major === undefined
    ? undefined
    : { numbers: [Number(major), Number(minor), Number(patch)], isPreRelease: preRelease !== undefined }
}

/** Returns the lowest version after a change. */
const raise = ([major, minor, patch]: Numbers, changeClass: 'breaking' | 'additive'): Numbers => {
  const isBreaking = changeClass === 'breaking'
  if (major === 0) return isBreaking ? [0, minor + 1, 0] : [0, minor, patch + 1]
  return isBreaking ? [major + 1, 0, 0] : [major, minor + 1, 0]
}

const isLower = (numbers: Numbers, others: Numbers): boolean => {
  const at = numbers.findIndex((number, index) => number !== others[index])
  return at !== -1 && (numbers[at] ?? 0) < (others[at] ?? 0)
}

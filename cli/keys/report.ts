import { KEY_SET_MAX_AGE_SECONDS } from '../../src/limits.ts'
import type { HostKey, HostKeys } from '../client/index.ts'
import { colors, formatCount, formatTable } from '../terminal.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Formats a time for people, rounded up to a minute: before it, nothing has happened yet. */
export const formatTime = (at: number): string =>
  `${new Date(Math.ceil(at / MINUTE_MS) * MINUTE_MS).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Formats how far away a time is that has not come, such as "in 10 minutes". */
const formatDistance = (at: number, now: number): string => {
  const distance = at - now
  const [size, unit] =
    distance < 2 * HOUR_MS ? [MINUTE_MS, 'minute'] : distance < 2 * DAY_MS ? [HOUR_MS, 'hour'] : [DAY_MS, 'day']
  return `in ${formatCount(Math.ceil(distance / size), unit)}`
}

/** Returns the keys of a host as a table: what each is for, since when, and what is next to do about it, unless the host is local. */
export const keysText = (state: HostKeys, isLocal: boolean): string[] =>
  formatTable([
    ['role', 'kid', 'secret', 'signs since', 'next'].map(colors.dim),
    ...state.keys.map(key => [
      key.role,
      key.kid,
      key.secret,
      formatSince(key),
      isLocal ? '-' : describeNext(key, state),
    ]),
  ])

const formatSince = ({ role, signsFrom }: HostKey): string =>
  role === 'next' ? 'not yet' : signsFrom === undefined ? 'the beginning' : formatTime(Date.parse(signsFrom))

const describeNext = (key: HostKey, state: HostKeys): string => {
  if (key.role === 'previous') {
    const obstacle = findObstacle(key, state)
    return obstacle === undefined ? 'npx sync-card keys retire' : `npx sync-card keys retire, ${obstacle}`
  }
  if (key.role === 'next') return `signs everything from ${formatTime(Date.parse(key.signsFrom ?? ''))} on`
  const isOnly = !state.keys.some(({ role }) => role === 'next' || role === 'previous')
  return key.role === 'current' && isOnly ? 'sync-card keys rotate replaces it' : '-'
}

/** Returns why the previous key cannot be retired yet, as the end of a sentence; undefined if it can. */
export const findObstacle = ({ retirable }: HostKey, { unsigned, time }: HostKeys): string | undefined => {
  const [now, from] = [Date.parse(time), Date.parse(retirable ?? time)]
  if (unsigned > 0) return `once ${formatCount(unsigned, 'agent')} more ${unsigned === 1 ? 'is' : 'are'} signed again`
  return from > now ? `from ${formatTime(from)} on (${formatDistance(from, now)})` : undefined
}

/** Describes what happens after a new key has been stored, step by step. */
export const rotationText = (next: { kid: string; signsFrom: number }, { keys, cacheSeconds }: HostKeys): string[] => {
  const current = keys.find(({ role }) => role === 'current')?.kid ?? ''
  return formatTable([
    ['now', `${next.kid} is published, and signs nothing`],
    [`${formatTime(next.signsFrom)}`, `it signs everything; ${current} also signs cards`],
    [
      `${formatTime(next.signsFrom + cacheSeconds * 1000)}`,
      `no cache serves a card that only ${current} has signed: npx sync-card keys retire`,
    ],
  ])
}

/** The keys of a host before a key that has leaked was replaced, when the host no longer published it, and when all cards were signed again. */
type Replacement = { before: HostKeys; gone: HostKeys; after: HostKeys }

/** Describes what caches still have of a key that has leaked, and for how long. */
export const remainsText = (key: HostKey, { before, gone, after }: Replacement): string[] => {
  const keySetUntil = Date.parse(gone.time) + KEY_SET_MAX_AGE_SECONDS * 1000
  const cardsUntil = Date.parse(after.time) + after.cacheSeconds * 1000
  const consequence = hasSignedAlone(key, before)
    ? 'which no other key has signed: verifiers refuse them'
    : 'which another key has signed as well'
  return [
    `${key.kid} signs nothing any more, and is not published. What caches still have:`,
    ...formatTable([
      [`until ${formatTime(keySetUntil)}`, 'verifiers that have fetched the keys before may accept it'],
      ...(key.role === 'next'
        ? []
        : [[`until ${formatTime(cardsUntil)}`, `caches may serve cards that it signed, ${consequence}`]]),
    ]),
  ]
}

/** Whether caches may have cards that no other key has signed. */
const hasSignedAlone = (key: HostKey, state: HostKeys): boolean => {
  if (key.role === 'previous') return findObstacle(key, state) !== undefined
  return key.role === 'current' && !state.keys.some(({ role }) => role === 'previous')
}

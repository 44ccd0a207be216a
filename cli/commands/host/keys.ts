import { keyRoles } from '../../../src/card/model/index.ts'
import { KEY_LEAD_SECONDS, KEY_SET_MAX_AGE_SECONDS } from '../../../src/limits.ts'
import { keySecrets } from '../../../src/variables.ts'
import type { HostClient, ResponseOf } from '../../client/index.ts'
import { type Context, interruptSignal, poll } from '../../context.ts'
import { createWrangler, type Wrangler } from '../../deploy/index.ts'
import { CommandError, ExitCode, HostError, InterruptedError, onRejection, UsageError } from '../../errors.ts'
import { isLoopback, parseHostUrl } from '../../hosts/index.ts'
import { type AddCommand, addConnectionOptions, addHostOptions, connect, type HostFlags } from '../../options.ts'
import { createSigningKey } from '../../signing-key.ts'
import { colors, formatCount, formatTable } from '../../terminal.ts'

type HostKeys = ResponseOf<'GET /keys'>
type HostKey = HostKeys['keys'][number]

type RotateFlags = HostFlags & { print?: true }
type RetireFlags = HostFlags & { now?: true }

const WRANGLER_HELP = 'arguments for `wrangler secret`, such as `-- --env staging`'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const DEPLOY_TIMEOUT_MS = 2 * MINUTE_MS
const RESIGN_TIMEOUT_MS = 15 * MINUTE_MS

/** Adds `keys`, which makes, rotates and retires the keys that a host signs with. */
export const addKeys: AddCommand = (program, context) => {
  const keys = program.command('keys').description('make, rotate and retire the keys that a host signs with')
  keys
    .command('create')
    .description('make the first key of a host and store it as the secret SIGNING_KEY')
    .argument('[args...]', WRANGLER_HELP)
    .option('--print', 'print the secret on stdout instead')
    .action((args: string[], { print }: RotateFlags) => create(args, print, context))
  addConnectionOptions(keys.command('rotate'), 'admin')
    .description('make the next key: it is published now, and signs in ten minutes')
    .argument('[args...]', WRANGLER_HELP)
    .option('--print', 'print the secret on stdout instead, and the name to store it under on stderr')
    .action((args: string[], flags: RotateFlags) => rotate(args, flags, context))
  addConnectionOptions(keys.command('retire'), 'admin')
    .description('delete the previous key once no cache needs it, or a leaked key at once')
    .argument('[key]', 'its kid or role; default: previous')
    .argument('[args...]', WRANGLER_HELP)
    .option('--now', 'the key has leaked: delete or replace it at once, and sign everything again')
    .action((key: string | undefined, args: string[], flags: RetireFlags) =>
      retire([key ?? [], args].flat(), flags, context),
    )
  addHostOptions(keys.command('list'), 'admin')
    .description('list the keys of a host, what each is for, and what to do next')
    .action((flags: HostFlags) => list(flags, context))
}

const create = async (args: readonly string[], print: true | undefined, context: Context): Promise<void> => {
  const { terminal, cwd, env, processEnv } = context
  const key = createSigningKey()
  if (print) return terminal.out(JSON.stringify(key))
  const { SYNC_CARD_URL: url } = env
  if (url !== undefined && isLoopback(parseHostUrl(url, 'SYNC_CARD_URL')))
    throw localHostError(url, 'Set SYNC_CARD_URL to the deployed one, or unset it.')
  const wrangler = createWrangler(cwd, processEnv)
  const stored = await listSecrets(wrangler, args)
  const existing = keySecrets.find(secret => stored.includes(secret))
  if (existing !== undefined)
    throw new UsageError(`The Worker has a ${existing} already. To replace it: npx sync-card keys rotate`)
  rejectFailure('stored', await wrangler.putSecret('SIGNING_KEY', JSON.stringify(key), args))
  terminal.info(`SIGNING_KEY is now ${key.kid}; it was not displayed.`)
}

/** Returns the keys of a host. Throws for a secret that this version does not know: it might be any of the Worker. */
const readKeys = async ({ call }: HostClient): Promise<HostKeys> => {
  const state = await call('GET /keys')
  if (state.keys.every(({ role, secret }) => keyRoles.includes(role) && keySecrets.includes(secret))) return state
  throw new HostError('the host has a key of a kind that this sync-card does not know: upgrade it')
}

const list = async (flags: HostFlags, context: Context): Promise<void> => {
  const { terminal } = context
  const { host, client } = connect(flags, context)
  const state = await readKeys(client)
  const { keys, problem, unsigned } = state
  const isLocal = isLoopback(host.url)
  const rows = keys.map(key => {
    const { role, kid, secret, signsFrom } = key
    const since = signsFrom === undefined ? 'the beginning' : formatTime(Date.parse(signsFrom))
    return [role, kid, secret, role === 'next' ? 'not yet' : since, isLocal ? '-' : describeNext(key, state)]
  })
  if (flags.json) terminal.out(JSON.stringify(state))
  else terminal.report(formatTable([['role', 'kid', 'secret', 'signs since', 'next'].map(colors.dim), ...rows]))
  if (problem !== undefined) terminal.error(problem)
  if (unsigned > 0) terminal.info(`Agents that wait for being signed again: ${unsigned}.`)
}

const describeNext = (key: HostKey, state: HostKeys): string => {
  if (key.role === 'previous') {
    const obstacle = findObstacle(key, state)
    return `npx sync-card keys retire${obstacle === undefined ? '' : `, ${obstacle}`}`
  }
  if (key.role === 'next') return `signs everything from ${formatTime(Date.parse(key.signsFrom ?? ''))} on`
  return state.keys.some(({ role }) => role !== 'current') ? '-' : 'sync-card keys rotate replaces it'
}

/** Formats a time, rounded up to a minute: before it, nothing has happened yet. */
const formatTime = (at: number): string =>
  `${new Date(Math.ceil(at / MINUTE_MS) * MINUTE_MS).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Returns why the previous key cannot be retired yet, as the end of a sentence; undefined if it can. */
const findObstacle = ({ retirable }: HostKey, { unsigned, time }: HostKeys): string | undefined => {
  if (unsigned > 0) return `once ${formatCount(unsigned, 'agent')} more ${unsigned === 1 ? 'is' : 'are'} signed again`
  const [now, from] = [Date.parse(time), Date.parse(retirable ?? time)]
  const wait = from - now
  if (wait <= 0) return undefined
  const [size, unit] =
    wait < 2 * HOUR_MS ? [MINUTE_MS, 'minute'] : wait < 2 * DAY_MS ? [HOUR_MS, 'hour'] : [DAY_MS, 'day']
  return `from ${formatTime(from)} on (in ${formatCount(Math.ceil(wait / size), unit)})`
}

type Session = ReturnType<typeof openSession>

const openSession = (args: readonly string[], flags: RotateFlags, context: Context) => {
  const { host, client } = connect(flags, context)
  const { url } = host
  // wrangler changes the deployed Worker, whatever the host is.
  if (!flags.print && isLoopback(url)) throw localHostError(url, 'Name the deployed one with --host or --url.')
  const wrangler = createWrangler(context.cwd, context.processEnv)
  return { url, client, wrangler, args, context, signal: interruptSignal(context) }
}

const localHostError = (url: string, advice: string): UsageError =>
  new UsageError(`${url} is a host on this machine, whose keys \`npm start\` makes. ${advice}`)

const wranglerError = (exitCode: number, what: 'stored' | 'retired', reason: string): CommandError => {
  const advice = 'If you are not logged in, run `npx wrangler login`, then try again.'
  return new CommandError(exitCode, `The key was not ${what}: ${reason}. ${advice}`)
}

/** Throws if wrangler has failed, which may have shown no reason. The exit code stays. */
const rejectFailure = (what: 'stored' | 'retired', exitCode: number): void => {
  if (exitCode !== 0) throw wranglerError(exitCode, what, `wrangler ended with the exit code ${exitCode}`)
}

/** Returns the names of the secrets. Throws if they are unknown: a key might replace another one. */
const listSecrets = async (wrangler: Wrangler, args: readonly string[]): Promise<string[]> => {
  const reason = 'wrangler could not list the secrets of the Worker, so that one of them might have been replaced'
  const stored = await wrangler.listSecrets(args)
  if (stored === undefined) throw wranglerError(ExitCode.unreachable, 'stored', reason)
  return stored
}

const rotate = async (args: readonly string[], flags: RotateFlags, context: Context): Promise<void> => {
  const { terminal } = context
  const session = openSession(args, flags, context)
  const { url, client, wrangler } = session
  const state = await readKeys(client)
  const secret = keySecrets.find(name => !state.keys.some(key => key.secret === name))
  if (secret === undefined) throw new CommandError(ExitCode.outOfDate, describeBusy(state))
  const signsFrom = Math.ceil(Date.parse(state.time) / 1000) + KEY_LEAD_SECONDS
  const key = createSigningKey(signsFrom)
  if (flags.print) {
    terminal.out(JSON.stringify(key))
    terminal.info(`Store it as ${secret} before ${new Date(signsFrom * 1000).toISOString()}, when it begins to sign.`)
    return
  }
  if ((await listSecrets(wrangler, args)).includes(secret))
    throw new UsageError(`The Worker that wrangler sees has a ${secret}, and ${url} has none: ${WORKER_ADVICE}`)
  rejectFailure('stored', await wrangler.putSecret(secret, JSON.stringify(key), args))
  await waitForKeys(session, now => hasKey(now, key))
  const current = state.keys.find(({ role }) => role === 'current')?.kid ?? ''
  const uncached = formatTime((signsFrom + state.cacheSeconds) * 1000)
  const rows = [
    ['now', `${key.kid} is published, and signs nothing`],
    [formatTime(signsFrom * 1000), `it signs everything; ${current} also signs cards`],
    [uncached, `no cache serves a card that only ${current} has signed: npx sync-card keys retire`],
  ]
  terminal.report(formatTable(rows))
}

const WORKER_ADVICE = 'name the same Worker after --, such as -- --env staging.'

const describeBusy = (state: HostKeys): string => {
  const next = state.keys.find(({ role }) => role === 'next')
  if (next)
    return `${next.kid} is next: it signs from ${next.signsFrom} on. To give it up: npx sync-card keys retire next`
  const previous = state.keys.find(({ role }) => role === 'previous')
  if (!previous) return 'Both secrets are in use.'
  const obstacle = findObstacle(previous, state)
  const when = obstacle === undefined ? '' : `, which is possible ${obstacle}`
  return `The previous key ${previous.kid} must be retired first${when}: npx sync-card keys retire`
}

const retire = async (words: readonly string[], flags: RetireFlags, context: Context): Promise<void> => {
  // What follows `--` is for wrangler, even if no key is before it.
  const args = words[0]?.startsWith('-') ? words : words.slice(1)
  const wanted = args === words ? undefined : words[0]
  if (flags.now && wanted === undefined)
    throw new UsageError('--now needs the kid of the key that has leaked: npx sync-card keys list shows them.')
  const session = openSession(args, flags, context)
  const state = await readKeys(session.client)
  const key = findKey(wanted ?? 'previous', state)
  const { kid, role, secret } = key
  if (flags.now) return replaceLeaked(key, state, session)
  if (role === 'current')
    throw new UsageError(
      `${kid} is in use. Make the next key first: npx sync-card keys rotate. ` +
        `If it has leaked: npx sync-card keys retire ${kid} --now`,
    )
  const obstacle = role === 'previous' ? findObstacle(key, state) : undefined
  if (obstacle !== undefined)
    throw new CommandError(ExitCode.outOfDate, `The previous key ${kid} can be retired ${obstacle}.`)
  rejectFailure('retired', await session.wrangler.deleteSecret(secret, args))
  await waitForKeys(session, now => !hasKey(now, key))
  context.terminal.report(`Retired ${kid}: ${secret} is free for the next key.`)
}

const findKey = (wanted: string, { keys }: HostKeys): HostKey => {
  const key = keys.find(({ kid, role }) => kid === wanted || role === wanted)
  if (key) return key
  const problem = wanted === 'previous' ? 'There is no previous key to retire' : `The host has no key "${wanted}"`
  throw new UsageError(`${problem}. The keys are ${keys.map(({ kid, role }) => `${kid} (${role})`).join(', ')}.`)
}

/** Deletes or replaces a key that has leaked, and waits until the host has signed everything again. */
const replaceLeaked = async (key: HostKey, state: HostKeys, session: Session): Promise<void> => {
  const { wrangler, args, context } = session
  const { terminal } = context
  const { kid, role, secret } = key
  const isAlone = role === 'current' && !state.keys.some(each => each.role === 'next')
  const replacement = createSigningKey(Math.floor(Date.parse(state.time) / 1000))
  const exitCode = isAlone
    ? await wrangler.putSecret(secret, JSON.stringify(replacement), args)
    : await wrangler.deleteSecret(secret, args)
  rejectFailure('retired', exitCode)
  const gone = await waitForKeys(session, now => !hasKey(now, key))
  terminal.info('The key is gone. Waiting until the host has signed all cards again …')
  const after = await waitForKeys(session, now => !hasKey(now, key) && now.unsigned === 0, true)
  if (role === 'current')
    terminal.report(`The current key is now ${after.keys.find(each => each.role === 'current')?.kid}.`)
  const keySetUntil = formatTime(Date.parse(gone.time) + KEY_SET_MAX_AGE_SECONDS * 1000)
  const cardsUntil = formatTime(Date.parse(after.time) + after.cacheSeconds * 1000)
  const consequence = hasSignedAlone(key, state)
    ? 'which no other key has signed: verifiers refuse them'
    : 'which another key has signed as well'
  const cards = [`until ${cardsUntil}`, `caches may serve cards that it signed, ${consequence}`]
  const verifiers = [`until ${keySetUntil}`, 'verifiers that have fetched the keys before may accept it']
  terminal.report(`${kid} signs nothing any more, and is not published. What caches still have:`)
  terminal.report(formatTable(role === 'next' ? [verifiers] : [verifiers, cards]))
}

/** Checks whether caches may have cards that no other key has signed. */
const hasSignedAlone = (key: HostKey, state: HostKeys): boolean =>
  key.role === 'previous'
    ? findObstacle(key, state) !== undefined
    : key.role === 'current' && !state.keys.some(({ role }) => role === 'previous')

const hasKey = ({ keys }: HostKeys, { kid }: { kid: string }): boolean => keys.some(key => key.kid === kid)

/** Waits until the keys of a host are as wanted, which wrangler or, with `resigns`, the host itself has changed. */
const waitForKeys = async (session: Session, isWanted: (state: HostKeys) => boolean, resigns = false) => {
  const { url, client, context, signal } = session
  let found: HostKeys | undefined
  const check = async (): Promise<boolean> => {
    // While secrets change, a location of the host may have no valid ones.
    const state = await readKeys(client).catch(onRejection(() => undefined))
    found = state && isWanted(state) ? state : undefined
    return found !== undefined
  }
  const timeoutMs = resigns ? RESIGN_TIMEOUT_MS : DEPLOY_TIMEOUT_MS
  await poll(check, { clock: context.clock, timeoutMs, pauseMs: 1000, maxPauseMs: 10_000, signal })
  if (signal.aborted) throw new InterruptedError()
  if (found) return found
  const problem = resigns
    ? 'The host has not signed all cards again yet. npx sync-card keys list shows how many agents wait for it.'
    : `${url} has not changed its keys within ${formatCount(DEPLOY_TIMEOUT_MS / MINUTE_MS, 'minute')}. ` +
      `Is it the Worker that wrangler has changed? If not, ${WORKER_ADVICE}`
  throw new CommandError(ExitCode.outOfDate, problem)
}

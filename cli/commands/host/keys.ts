import { KEY_LEAD_SECONDS } from '../../../src/limits.ts'
import type { HostClient, HostKey, HostKeys } from '../../client/index.ts'
import { type Context, poll } from '../../context.ts'
import { createWrangler, type Wrangler } from '../../deploy/index.ts'
import { CommandError, ExitCode, InterruptedError, UsageError } from '../../exit-codes.ts'
import { onRejection } from '../../failure.ts'
import { isLoopback, parseHostUrl } from '../../hosts/index.ts'
import { createSigningKey, findObstacle, keysText, remainsText, rotationText } from '../../keys/index.ts'
import {
  type AddCommand,
  addConnectionOptions,
  addHostOptions,
  connectTo,
  type HostFlags,
  interruptSignal,
} from '../../options.ts'
import { formatCount } from '../../terminal.ts'

type CreateFlags = { print?: true }
type RotateFlags = HostFlags & { print?: true }
type RetireFlags = HostFlags & { now?: true }

const WRANGLER_HELP = 'arguments for `wrangler secret`, such as: -- --env staging'

/** The secrets whose keys take turns. */
const TURNS = ['SIGNING_KEY', 'SIGNING_KEY_2'] as const

/** How long a host may take until it has the secrets that wrangler has stored. */
const DEPLOY_TIMEOUT_MS = 2 * 60_000

/** How long a host may take until it has signed all cards again. */
const RESIGN_TIMEOUT_MS = 15 * 60_000

/** Adds `keys`, which makes, rotates and retires the keys that a host signs with. */
export const addKeys: AddCommand = (program, context, exit) => {
  const keys = program.command('keys').description('make, rotate and retire the keys that a host signs with')
  keys
    .command('create')
    .description('make the first key of a host and store it as the secret SIGNING_KEY')
    .argument('[args...]', WRANGLER_HELP)
    .option('--print', 'print the secret on stdout instead')
    .action(async (args: string[], flags: CreateFlags) => exit(await create(args, flags, context)))
  addConnectionOptions(keys.command('rotate'), 'admin')
    .description('make the next key: it is published now, and signs in ten minutes')
    .argument('[args...]', WRANGLER_HELP)
    .option('--print', 'print the secret on stdout instead, and the name to store it under on stderr')
    .action(async (args: string[], flags: RotateFlags) => exit(await rotate(args, flags, context)))
  addConnectionOptions(keys.command('retire'), 'admin')
    .description('delete the previous key once no cache needs it, or a key that has leaked at once')
    .argument('[key]', 'its kid or role; default: previous')
    .argument('[args...]', WRANGLER_HELP)
    .option('--now', 'the key has leaked: delete or replace it at once, and sign everything again')
    .action(async (key: string | undefined, args: string[], flags: RetireFlags) =>
      // What follows `--` is for wrangler, even if no key is before it.
      exit(
        await (key?.startsWith('-')
          ? retire(undefined, [key, ...args], flags, context)
          : retire(key, args, flags, context)),
      ),
    )
  addHostOptions(keys.command('list'), 'admin')
    .description('list the keys of a host, what each is for, and what is next to do')
    .action(async (flags: HostFlags) => exit(await list(flags, context)))
}

const create = async (args: readonly string[], { print }: CreateFlags, context: Context): Promise<number> => {
  const { terminal, cwd, env, processEnv } = context
  const key = createSigningKey()
  if (print) {
    terminal.out(JSON.stringify(key))
    return ExitCode.ok
  }
  const { SYNC_CARD_URL: url } = env
  if (url !== undefined && isLoopback(parseHostUrl(url, 'SYNC_CARD_URL')))
    throw localHostError(url, 'Set SYNC_CARD_URL to the deployed one, or unset it.')
  const wrangler = createWrangler(cwd, processEnv)
  const stored = await listSecrets(wrangler, args)
  const existing = TURNS.find(secret => stored.includes(secret))
  if (existing !== undefined)
    throw new UsageError(
      `The Worker has a ${existing} already, and what it has signed would become invalid. To replace it without invalidating it: npx sync-card keys rotate`,
    )
  rejectFailure('The key was not stored', await wrangler.putSecret('SIGNING_KEY', JSON.stringify(key), args))
  terminal.info(`SIGNING_KEY is now ${key.kid}; it was not displayed.`)
  return ExitCode.ok
}

const list = async (flags: HostFlags, context: Context): Promise<number> => {
  const { terminal } = context
  const { host, client } = connectTo(flags, context)
  const state = await client.getHostKeys()
  if (flags.json) terminal.out(JSON.stringify(state))
  else terminal.report(keysText(state, isLoopback(host.url)))
  if (state.problem !== undefined) terminal.error(state.problem)
  if (state.unsigned > 0) terminal.info(`Agents that wait for being signed again: ${state.unsigned}.`)
  return ExitCode.ok
}

/** A host whose keys change, and the wrangler that stores them. */
type Session = {
  url: string
  client: HostClient
  wrangler: Wrangler
  args: readonly string[]
  context: Context
  signal: AbortSignal
}

const openSession = (args: readonly string[], flags: HostFlags, context: Context, writes = true): Session => {
  const { host, client } = connectTo(flags, context)
  // wrangler changes the deployed Worker, whatever the host is.
  if (writes && isLoopback(host.url)) throw localHostError(host.url, 'Name the deployed one with --host or --url.')
  const wrangler = createWrangler(context.cwd, context.processEnv)
  return { url: host.url, client, wrangler, args, context, signal: interruptSignal(context) }
}

const localHostError = (url: string, advice: string): UsageError =>
  new UsageError(`${url} is a host on this machine, whose keys \`npm start\` makes. ${advice}`)

/** Throws if wrangler has failed, which may have shown no reason. The exit code stays. */
const rejectFailure = (what: string, exitCode: number): void => {
  if (exitCode !== 0)
    throw new CommandError(exitCode, `${what}: wrangler ended with the exit code ${exitCode}. ${LOGIN_ADVICE}`)
}

const LOGIN_ADVICE = 'If you are not logged in, run `npx wrangler login`, then try again.'

/** Returns the names of the secrets. Throws if they are unknown: a key might replace another one. */
const listSecrets = async (wrangler: Wrangler, args: readonly string[]): Promise<string[]> => {
  const stored = await wrangler.listSecrets(args)
  if (stored) return stored
  const reason = 'wrangler could not list the secrets of the Worker, so that one of them might have been replaced'
  throw new CommandError(ExitCode.unreachable, `The key was not stored: ${reason}. ${LOGIN_ADVICE}`)
}

const rotate = async (args: readonly string[], flags: RotateFlags, context: Context): Promise<number> => {
  const { terminal } = context
  const session = openSession(args, flags, context, !flags.print)
  const state = await session.client.getHostKeys()
  const secret = TURNS.find(name => !state.keys.some(key => key.secret === name))
  if (secret === undefined) throw new CommandError(ExitCode.outOfDate, describeBusy(state))
  const signsFrom = Math.ceil(Date.parse(state.time) / 1000) + KEY_LEAD_SECONDS
  const key = createSigningKey(signsFrom)
  if (flags.print) {
    terminal.out(JSON.stringify(key))
    terminal.info(`Store it as ${secret} before ${new Date(signsFrom * 1000).toISOString()}, when it begins to sign.`)
    return ExitCode.ok
  }
  if ((await listSecrets(session.wrangler, args)).includes(secret))
    throw new UsageError(
      `The Worker that wrangler sees has a ${secret}, and ${session.url} has none: name the same Worker after --, such as -- --env staging.`,
    )
  rejectFailure('The key was not stored', await session.wrangler.putSecret(secret, JSON.stringify(key), args))
  await waitForChange(session, state => hasKey(state, key))
  terminal.report(rotationText({ kid: key.kid, signsFrom: signsFrom * 1000 }, state))
  return ExitCode.ok
}

/** Describes why there is no secret for another key. */
const describeBusy = (state: HostKeys): string => {
  const { keys } = state
  const [next, previous] = (['next', 'previous'] as const).map(role => keys.find(key => key.role === role))
  if (next)
    return `${next.kid} is the next key already: it signs from ${next.signsFrom} on. To give it up: npx sync-card keys retire next`
  if (!previous) return 'Both secrets are in use.'
  const obstacle = findObstacle(previous, state)
  return `The previous key ${previous.kid} must be retired first${obstacle === undefined ? '' : `, which is possible ${obstacle}`}: npx sync-card keys retire`
}

const retire = async (
  wanted: string | undefined,
  args: readonly string[],
  flags: RetireFlags,
  context: Context,
): Promise<number> => {
  const { terminal } = context
  if (flags.now && wanted === undefined)
    throw new UsageError('--now needs the kid of the key that has leaked: npx sync-card keys list shows them.')
  const session = openSession(args, flags, context)
  const state = await session.client.getHostKeys()
  const key = findKey(wanted ?? 'previous', state)
  if (flags.now) return replaceLeaked(key, state, session)
  if (key.role === 'current')
    throw new UsageError(
      `${key.kid} is in use. Make the next key first: npx sync-card keys rotate. If it has leaked: npx sync-card keys retire ${key.kid} --now`,
    )
  const obstacle = key.role === 'previous' ? findObstacle(key, state) : undefined
  if (obstacle !== undefined)
    throw new CommandError(ExitCode.outOfDate, `The previous key ${key.kid} can be retired ${obstacle}.`)
  rejectFailure('The key was not retired', await session.wrangler.deleteSecret(key.secret, args))
  await waitForChange(session, state => !hasKey(state, key))
  terminal.report(`Retired ${key.kid}: ${key.secret} is free for the next key.`)
  return ExitCode.ok
}

const findKey = (wanted: string, { keys }: HostKeys): HostKey => {
  const key = keys.find(({ kid, role }) => kid === wanted || role === wanted)
  if (key) return key
  const known = keys.map(({ kid, role }) => `${kid} (${role})`).join(', ')
  throw new UsageError(
    wanted === 'previous'
      ? `There is no previous key to retire. The keys are ${known}.`
      : `The host has no key "${wanted}". The keys are ${known}.`,
  )
}

/** Deletes a key that has leaked, or puts another in its place, and waits until the host has signed everything again. */
const replaceLeaked = async (key: HostKey, state: HostKeys, session: Session): Promise<number> => {
  const { wrangler, args, context } = session
  const { terminal } = context
  const isNeeded = key.role === 'current' && !state.keys.some(({ role }) => role === 'next')
  const replacement = createSigningKey(Math.floor(Date.parse(state.time) / 1000))
  const exitCode = isNeeded
    ? await wrangler.putSecret(key.secret, JSON.stringify(replacement), args)
    : await wrangler.deleteSecret(key.secret, args)
  rejectFailure('The key was not retired', exitCode)
  const gone = await waitForChange(session, state => !hasKey(state, key))
  terminal.info('The key is gone. Waiting until the host has signed all cards again …')
  const after = await waitForKeys(session, now => !hasKey(now, key) && now.unsigned === 0, RESIGN_TIMEOUT_MS)
  if (after === undefined)
    throw new CommandError(
      ExitCode.outOfDate,
      'The host has not signed all cards again yet. npx sync-card keys list shows how many agents wait for it.',
    )
  const current = after.keys.find(({ role }) => role === 'current')
  if (key.role === 'current') terminal.report(`The current key is now ${current?.kid}.`)
  terminal.report(remainsText(key, { before: state, gone, after }))
  return ExitCode.ok
}

/** Waits until the keys of a host are as wanted, and returns them; undefined if that takes too long. Throws if the user interrupts it. */
const waitForKeys = async (
  { client, context, signal }: Session,
  isWanted: (state: HostKeys) => boolean,
  timeoutMs: number,
): Promise<HostKeys | undefined> => {
  let found: HostKeys | undefined
  const check = async (): Promise<boolean> => {
    // While secrets change, a location of the host may have no valid ones.
    const state = await client.getHostKeys().catch(onRejection(() => undefined))
    found = state && isWanted(state) ? state : undefined
    return found !== undefined
  }
  await poll(check, { clock: context.clock, timeoutMs, pauseMs: 1000, maxPauseMs: 10_000, signal })
  if (signal.aborted) throw new InterruptedError()
  return found
}

const hasKey = ({ keys }: HostKeys, { kid }: { kid: string }): boolean => keys.some(key => key.kid === kid)

/** Waits until a host has the secrets that wrangler has changed. Throws if it does not get them. */
const waitForChange = async (session: Session, isWanted: (state: HostKeys) => boolean): Promise<HostKeys> => {
  const found = await waitForKeys(session, isWanted, DEPLOY_TIMEOUT_MS)
  if (found) return found
  throw new CommandError(
    ExitCode.outOfDate,
    `${session.url} has not changed its keys within ${formatCount(DEPLOY_TIMEOUT_MS / 60_000, 'minute')}. Is it the Worker that wrangler has changed? Name the same one after --, such as -- --env staging.`,
  )
}

import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { MIN_ADMIN_TOKEN_LENGTH } from '../../src/limits.ts'
import { createHostClient } from '../client/index.ts'
import { type Context, poll, readEnvFile, readEnvText } from '../context.ts'
import { ExitCode, HostError, isSystemError, UsageError } from '../errors.ts'
import { type HostSettings, parseHostUrl, resolveHost, TEMPLATE_NAMES } from '../hosts/index.ts'
import { CARDS_FOLDER, isFolder, loadManifests, replaceFile } from '../manifests/index.ts'
import { exitCodeOf, NON_INTERACTIVE, syncCards, syncText } from '../sync/index.ts'
import { withoutProgress } from '../terminal.ts'
import { parseDeployFlags, type Wrangler } from './wrangler.ts'

const REACHABLE_TIMEOUT_MS = 180_000

/**
 * Deploys the Worker, sends it the cards of `cards/`, and returns the exit code. `args` go to `wrangler deploy`. The
 * token and the address are in `.env`, or in `.env.NAME` with `--env NAME`; the first deployment writes them.
 */
export const deploy = async (args: readonly string[], context: Context, wrangler: Wrangler): Promise<number> => {
  const { terminal, configFolder, processEnv } = context
  const { environment, isDry, worker } = parseDeployFlags(args, processEnv)
  if (isDry) {
    const { exitCode } = await wrangler.deploy(args)
    if (exitCode === 0) terminal.report('Nothing was deployed, and no cards were sent.')
    return exitCode
  }
  const target = readTarget(environment, worker, context)
  const mayCreate = target.token === undefined && target.canStore
  if (mayCreate) checkWritable(configFolder, target.file)
  const deployment = await wrangler.deploy(args, target.token === undefined ? undefined : { ADMIN_TOKEN: target.token })
  if (deployment.exitCode !== 0) {
    if (deployment.needsLogin)
      terminal.error(
        'wrangler is not logged in to a Cloudflare account. Run `npx wrangler login`, then `npm run deploy` again. ' +
          'Without a terminal, set CLOUDFLARE_API_TOKEN instead.',
      )
    return deployment.exitCode
  }
  const secrets = mayCreate ? await wrangler.listSecrets(worker) : []
  if (secrets === undefined) return reportNoToken('', terminal)
  // A token that the Worker has already stays.
  const created = mayCreate && !secrets.includes('ADMIN_TOKEN') ? randomBytes(32).toString('base64url') : undefined
  const url = chooseUrl(target, deployment.urls, created !== undefined, terminal)
  // The file has the token before the Worker has it: whatever ends this process in between, the next run sets the
  // token of the file.
  saveTarget(target, url, created, context)
  if (created !== undefined && (await wrangler.putSecret('ADMIN_TOKEN', created, worker)) !== 0)
    return reportNoToken(` of ${target.file}`, terminal)
  if (url === undefined) {
    terminal.error(`Deployed, but the Worker's URL could not be determined. Write SYNC_CARD_URL into ${target.file}.`)
    return ExitCode.usage
  }
  const token = created ?? target.token ?? findCardToken(target, url, context)
  if (token !== undefined) return sendCards(target, { url, token }, context)
  terminal.report(withoutTokenText(target, url))
  return ExitCode.ok
}

type Target = ReturnType<typeof readTarget>

const readTarget = (environment: string, worker: readonly string[], context: Context) => {
  const { configFolder, processEnv, terminal } = context
  if (!/^[\w-]*$/.test(environment)) throw new UsageError(`"${environment}" is not the name of an environment.`)
  if (TEMPLATE_NAMES.includes(environment))
    throw new UsageError(
      `.env.${environment} is a template that Git does not ignore: give the environment another name.`,
    )
  const file = environment === '' ? '.env' : `.env.${environment}`
  const values = readEnvFile(configFolder, file)
  // What the shell says about one host is not about every environment.
  const isOfShell = environment === '' || processEnv.SYNC_CARD_URL === undefined
  const tokenOfShell = isOfShell ? processEnv.ADMIN_TOKEN : undefined
  const token = tokenOfShell ?? values.ADMIN_TOKEN
  if (token !== undefined && token.length < MIN_ADMIN_TOKEN_LENGTH)
    throw new UsageError(
      `ADMIN_TOKEN must be at least ${MIN_ADMIN_TOKEN_LENGTH} characters. Remove it from the environment and ${file} ` +
        'to have a random one generated.',
    )
  const parse = (url: string | undefined, source?: string) =>
    url === undefined ? undefined : parseHostUrl(url, source)
  // What would throw only after the deployment throws here: a mistake in an address, in the token or in sync-card.yaml.
  const urlOfFile = parse(values.SYNC_CARD_URL, `SYNC_CARD_URL in ${file}`)
  const urlOfShell = parse(processEnv.SYNC_CARD_URL, 'SYNC_CARD_URL in the environment')
  resolveHost({ url: 'https://host.invalid', token: token ?? 'none' }, context)
  return {
    /** The environment of wrangler.toml, empty for none, and the arguments of wrangler that name the Worker. */
    ...{ environment, worker },
    /** The file with the address of the Worker and its token, and the admin token, if this clone has it. */
    ...{ file, values, token, urlOfFile, urlOfShell },
    isTokenOfShell: tokenOfShell !== undefined,
    /** The address that the owner names. */
    configuredUrl: (environment === '' ? (parse(processEnv.PUBLIC_URL) ?? urlOfShell) : undefined) ?? urlOfFile,
    /** A file that is written now will be there tomorrow. */
    canStore: terminal.canAsk && !isSet(processEnv.CI) && !isSet(processEnv.WORKERS_CI),
  }
}

const isSet = (value: string | undefined): boolean => value !== undefined && !/^(?:false|0)$/i.test(value)

const reportNoToken = (which: string, { error }: Context['terminal']): number => {
  error(`Deployed, but wrangler could not set the ADMIN_TOKEN${which}. Run npm run deploy again.`)
  return ExitCode.unreachable
}

/**
 * Returns where cards are sent: an address that the owner names, else the first that wrangler reports. A new token, or
 * that of the file, is sent only to an address of this deployment or of the file: the shell may name another host.
 */
const chooseUrl = (target: Target, urls: string[], hasNewToken: boolean, { info }: Context['terminal']) => {
  const { configuredUrl, urlOfFile, file, token, isTokenOfShell } = target
  const [deployed] = urls
  if (configuredUrl === undefined || urls.includes(configuredUrl)) return configuredUrl ?? deployed
  const ofFile = hasNewToken ? (deployed ?? urlOfFile) : (urlOfFile ?? deployed)
  const chosen = hasNewToken || (token !== undefined && !isTokenOfShell) ? ofFile : configuredUrl
  if (chosen !== undefined && (deployed !== undefined || chosen !== configuredUrl))
    info(
      `The address in ${file} or the environment is ${configuredUrl}, ` +
        `wrangler reports ${urls.join(', ') || 'none'}. Using ${chosen}.`,
    )
  return chosen
}

const saveTarget = (target: Target, url: string | undefined, created: string | undefined, context: Context): void => {
  const { file, values, canStore } = target
  const isUrlNew = url !== undefined && (created !== undefined || values.SYNC_CARD_URL === undefined)
  const variables = { ...(created && { ADMIN_TOKEN: created }), ...(isUrlNew && { SYNC_CARD_URL: url }) }
  if (!canStore || Object.keys(variables).length === 0) return
  writeEnvFile(context.configFolder, file, variables)
  const advice = 'Keep it: it lets you change the cards.'
  if (created) context.terminal.report(`A new ADMIN_TOKEN is in ${file}, readable only by you. ${advice}`)
}

/** Throws unless a file such as `.env` can be written: what is generated for it would be lost. */
const checkWritable = (folder: string, name: string): void => {
  const file = join(folder, name)
  if (isFolder(name, folder))
    throw new UsageError(
      `${name} is a folder, so a new ADMIN_TOKEN cannot be written there: move it, or set ADMIN_TOKEN.`,
    )
  try {
    // The file is replaced as a whole.
    for (const path of [folder, file]) if (existsSync(path)) accessSync(path, constants.W_OK)
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new UsageError(`${name} cannot be written, so a new ADMIN_TOKEN would be lost: ${error.message}.`)
  }
}

/** Sets variables in a file such as `.env`, in place if they are there. Only its owner can read it afterwards. */
export const writeEnvFile = (folder: string, name: string, variables: Readonly<Record<string, string>>): void => {
  const before = readEnvText(join(folder, name))
  const after = Object.entries(variables).reduce((text, [variable, value]) => {
    const line = `${variable}=${value}`
    const existing = new RegExp(`^(?:export[ \\t]+)?${variable}[ \\t]*=.*$`, 'gm')
    if (existing.test(text)) return text.replace(existing, () => line)
    return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`
  }, before)
  replaceFile(name, after, folder, 0o600)
}

/** Returns the token for cards of a clone without the admin token, if it belongs to this address. */
const findCardToken = ({ values, urlOfFile, urlOfShell }: Target, url: string, { processEnv }: Context) => {
  const tokenOfShell = (urlOfShell ?? url) === url ? processEnv.SYNC_CARD_TOKEN : undefined
  return tokenOfShell ?? (urlOfFile === url ? values.SYNC_CARD_TOKEN : undefined)
}

const withoutTokenText = ({ file, canStore, worker }: Target, url: string): string[] =>
  canStore
    ? [
        `${url} has an ADMIN_TOKEN that this clone does not have. It was kept, and no cards were sent.`,
        `To use it here, write it into ${file}: ADMIN_TOKEN=…`,
        'To replace it, write a new one there, such as openssl rand -hex 32 prints, and deploy again.',
      ]
    : [
        'No cards were sent: there is no ADMIN_TOKEN or SYNC_CARD_TOKEN in the environment, ' +
          'and without a terminal none is generated.',
        'Until the Worker has an ADMIN_TOKEN, it refuses to register agents: ' +
          ['npx wrangler secret put ADMIN_TOKEN', ...worker].join(' '),
        `${url}/health lists what is missing.`,
      ]

const sendCards = async (target: Target, { url, token }: HostSettings, context: Context): Promise<number> => {
  const { terminal, clock, cwd } = context
  terminal.info(`Waiting for ${url} …`)
  const isReachable = await poll(() => isReady(url, context), { clock, timeoutMs: REACHABLE_TIMEOUT_MS, pauseMs: 1000 })
  const command = syncCommand(target, url, context)
  if (!isReachable) {
    terminal.error(`Deployed, but ${url} does not respond yet. Run later: ${command} --wait`)
    return ExitCode.unreachable
  }
  const { drafts, invalid } = loadManifests(isFolder(CARDS_FOLDER, cwd) ? [CARDS_FOLDER] : [], url, cwd)
  if (drafts.length + invalid.length === 0) {
    const starter = `${CARDS_FOLDER}/my-agent.yaml`
    const next = existsSync(join(cwd, starter)) ? `Edit ${starter}` : `Write a card into ${CARDS_FOLDER}/`
    terminal.report([`${url} runs. There is no card to send yet.`, `${next}, then run: ${command}`])
    return ExitCode.ok
  }
  // Retries more often, as a new deployment may respond with errors for a while, and waits for the edge.
  const options = { ...NON_INTERACTIVE, retries: 6, wait: 90 }
  const result = await syncCards([], resolveHost({ url, token }, context), options, context)
  terminal.report([...syncText(result), `From now on: ${command}`])
  return exitCodeOf(result)
}

/** Returns the command that finds this deployment again. */
const syncCommand = ({ environment, file }: Target, url: string, { configFolder }: Context): string => {
  const { SYNC_CARD_URL, ADMIN_TOKEN, SYNC_CARD_TOKEN } = readEnvFile(configFolder, file)
  const isInFile = SYNC_CARD_URL !== undefined && (ADMIN_TOKEN ?? SYNC_CARD_TOKEN) !== undefined
  if (!isInFile || parseHostUrl(SYNC_CARD_URL) !== url) return `npx sync-card --url ${url}`
  return environment === '' ? 'npx sync-card' : `npx sync-card --host ${environment}`
}

/** Checks whether a URL responds as a host that has an admin token, which takes effect a moment after it is stored. */
const isReady = async (url: string, context: Context): Promise<boolean> => {
  const quiet = { ...context, terminal: withoutProgress(context.terminal) }
  try {
    const { registry, missing } = await createHostClient({ url, token: '' }, quiet, { retries: 0 }).getHealth()
    return registry === 'reachable' && !missing.includes('ADMIN_TOKEN')
  } catch (error) {
    if (error instanceof HostError) return false
    throw error
  }
}

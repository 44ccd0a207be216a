import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parse } from 'yaml'
import { compile, parseManifest } from '../../../src/card/compile/index.ts'
import { shellQuote } from '../../../src/card/index.ts'
import { agentIdPattern, toSlug } from '../../../src/card/model/index.ts'
import { blockReason, parseOrigins } from '../../../src/http/shared.ts'
import { isJsonObject, type Json } from '../../../src/json/index.ts'
import { type Context, foldersOfRepository, readEnvFile } from '../../context.ts'
import { curlCall } from '../../curl.ts'
import { ExitCode, UsageError } from '../../errors.ts'
import { findHost, isLoopback, localUrl } from '../../hosts/index.ts'
import {
  addMissingLines,
  CARDS_FOLDER,
  createFile,
  DEFAULTS_NAMES,
  findDefaults,
  isCardFileName,
  isFolder,
  isIssuerUrl,
  isLocalAddress,
  isUneditedStarter,
  loadManifests,
  rejectLinkOutside,
  STARTER_DEFAULTS,
  type StarterAnswers,
  starterCard,
  starterDefaults,
} from '../../manifests/index.ts'
import type { AddCommand } from '../../options.ts'
import { type Ask, colors } from '../../terminal.ts'

/** The ways to reach an agent, each with the path of the URL that is suggested. */
const REACHES: Record<string, string> = { public: '/a2a', local: '', mcp: '/mcp', card: '/.well-known/agent-card.json' }

/** The questions in their order, and where the answer is in the manifest of a new card. */
const FIELDS = {
  reach: [
    'Where is it: public (an https address), local (this machine), mcp (an MCP server), or card (of somebody else)?',
  ],
  name: ['What is the agent called?', '/card/name'],
  description: ['What does it do, for whom, and what does it need to know?', '/card/description'],
  url: ['What is its URL?', '/card/supportedInterfaces/0/url', '/upstream/mcp', '/upstream/card'],
  secret: [
    'If it needs a bearer token, which secret of the host contains it, such as STOCK_TOKEN?',
    '/upstream/secret',
  ],
  callers: [
    'Who may call it: anyone, tokens (callers with a token of this host), or an OpenID Connect issuer (its URL)?',
  ],
} satisfies Record<string, [question: string, ...pointers: string[]]>

type Field = keyof typeof FIELDS

const FIELD_NAMES = Object.keys(FIELDS) as Field[]

type Answers = Partial<Record<Field, string>>

type Flags = Omit<Answers, 'reach'> & { mcp?: string; card?: string; host?: string }

const CALLERS_HELP =
  'who may call: anyone, tokens (callers with a token of this host) or the URL of an OpenID Connect issuer; ' +
  'default: tokens with --secret or a local address, else anyone'

/** Adds `init`, which starts a card. */
export const addInit: AddCommand = (program, context, exit) => {
  program
    .command('init')
    .description('start a card: asks for what it needs, and writes a commented file')
    .argument('[id]', "the agent's id, which becomes the file name; default: made from the name")
    .option('--name <name>', 'what the agent is called')
    .option('--description <text>', 'what the agent does, for whom, and what it needs to know')
    .option('--url <url>', 'where the agent is called: its A2A endpoint, public or on this machine')
    .option('--mcp <url>', 'in place of --url: an MCP server that becomes an agent')
    .option('--card <url>', "in place of --url: the card of somebody else's agent")
    .option('--secret <NAME>', 'the name of the secret with the bearer token that the agent needs, never the token')
    .option('--callers <who>', CALLERS_HELP)
    .option('--host <name>', 'the host in sync-card.yaml that the card is for')
    .action(async (id: string | undefined, flags: Flags) => exit(await init(id, flags, context)))
}

const init = async (id: string | undefined, flags: Flags, context: Context): Promise<number> => {
  const { host, mcp, card, ...fields } = flags
  const { terminal, cwd } = context
  rejectLinkOutside(CARDS_FOLDER, cwd)
  const { url: hostUrl } = findHost({ ...(host !== undefined && { host }) }, context)
  const problem = id === undefined ? undefined : findIdProblem(id, cwd)
  if (problem !== undefined) throw new UsageError(problem)
  const [named, ...others] = Object.entries({ public: flags.url, mcp, card }).filter(([, url]) => url !== undefined)
  if (others.length > 0) throw new UsageError('--url, --mcp and --card exclude each other: give one of them.')
  const answers = await complete({ ...fields, ...(named && { reach: named[0], url: named[1] }) }, id, context)
  if (answers === undefined) {
    terminal.info('Nothing is written.')
    return ExitCode.usage
  }
  const starter = { ...STARTER_DEFAULTS, ...answers, id: idOf(id, answers), host: hostUrl }
  const file = fileOf(starter.id)
  const text = starterCard(starter)
  if (!createFile(file, text, cwd)) throw new UsageError(existsMessage(file))
  for (const line of [`created ${file}`, ...writeSurroundings(cwd)]) terminal.report(`${colors.green('+')} ${line}`)
  terminal.info(nextSteps(starter, parse(text), host === undefined ? '' : ` --host ${host}`, cwd))
  return ExitCode.ok
}

const idOf = (id: string | undefined, { name = '' }: Answers): string => id ?? toSlug(name, STARTER_DEFAULTS.id)

const fileOf = (id: string): string => join(CARDS_FOLDER, `${id}.yaml`)

const existsMessage = (file: string): string => `${file} exists, and is not overwritten: give another id, or edit it.`

const findIdProblem = (id: string, cwd: string): string | undefined => {
  if (!agentIdPattern.test(id))
    return `"${id}" is not an id: use lowercase letters, digits and hyphens, such as ${toSlug(id, 'my-agent')}.`
  const file = fileOf(id)
  if (!isCardFileName(basename(file)) || DEFAULTS_NAMES.includes(basename(file)))
    return `${file} would not be read as a card: give another id.`
  if (existsSync(resolve(cwd, file))) return existsMessage(file)
  if (!isFolder(CARDS_FOLDER, cwd)) return undefined
  const { drafts, invalid } = loadManifests([CARDS_FOLDER], localUrl({}), cwd)
  const other = [...drafts, ...invalid].find(draft => draft.id === id)
  return other && existsMessage(other.file)
}

/** Checks the flags and asks for what they do not give. Returns undefined if the prompt was left. */
const complete = async (flags: Answers, id: string | undefined, context: Context): Promise<Answers | undefined> => {
  const { terminal, cwd } = context
  const check = (field: Field, answers: Answers, subject: string): string | undefined => {
    const problem = findProblem(field, answers)
    if (problem !== undefined) return `${subject} ${problem}.`
    return field === 'name' ? findIdProblem(idOf(id, answers), cwd) : undefined
  }
  // Somebody else's card has a description. Its id may be made from a name.
  const isMissing = (field: Field, answers: Answers): boolean =>
    answers[field] === undefined &&
    (answers.reach !== 'card' || !(field === 'description' || (field === 'name' && id !== undefined)))
  for (const field of FIELD_NAMES) {
    const flag = field === 'url' && flags.reach !== 'public' ? flags.reach : field
    const problem = flags[field] === undefined ? undefined : check(field, flags, `--${flag}`)
    if (problem !== undefined) throw new UsageError(problem)
  }
  const required = (['name', 'description', 'url'] as const).filter(field => isMissing(field, flags))
  if (required.length > 0 && !terminal.canAsk) {
    const names = new Intl.ListFormat('en-GB').format(required.map(field => `--${field}`))
    const hint = required.includes('url') ? ' --mcp or --card may replace --url.' : ''
    throw new UsageError(`No terminal: pass ${names}.${hint}`)
  }
  const answerAll = async (ask?: Ask): Promise<Answers> => {
    const answers = { ...flags }
    for (const field of FIELD_NAMES) {
      if (!isMissing(field, answers)) continue
      const initial = defaultOf(field, answers, id)
      const checkAnswer = (answer: string) =>
        check(field, { ...answers, [field]: answer }, `The ${ANSWER_NAMES[field] ?? field}`)
      answers[field] = ask ? await ask(FIELDS[field][0], { initial, check: checkAnswer }) : initial
    }
    return answers
  }
  // What has a default is not asked for alone.
  return required.length === 0 ? answerAll() : terminal.prompt(answerAll)
}

const ANSWER_NAMES: Partial<Record<Field, string>> = { reach: 'answer', url: 'URL', callers: 'answer' }

/** Only the card of an agent that has no name yet may keep the description of every new card: nothing publishes it. */
const defaultOf = (field: Field, answers: Answers, id: string | undefined): string => {
  const { reach = 'public', name, url = '', secret } = answers
  if (field === 'reach') return reach
  // A credential of the host, and an address that clients cannot reach, are opened to everyone only by choice.
  if (field === 'callers') return secret || isLocalAddress(url) ? 'tokens' : 'anyone'
  if (field === 'url' && reach === 'local') return 'http://localhost:9000/'
  if (reach === 'public' && (name === undefined || name === STARTER_DEFAULTS.name)) return STARTER_DEFAULTS[field]
  return field === 'url' ? `https://${idOf(id, answers)}.example.com${REACHES[reach]}` : ''
}

/** Returns what the host or the linter finds wrong with an answer: a sentence without its subject. */
const findProblem = (field: Field, answers: Answers): string | undefined => {
  const answer = answers[field] ?? ''
  if (field === 'reach')
    return Object.hasOwn(REACHES, answer) ? undefined : `must be one of ${Object.keys(REACHES).join(', ')}`
  if (field === 'callers' && isIssuerUrl(answer) && !/^https?:\/\/./.test(answer))
    return 'must be anyone, tokens, or the URL of an OpenID Connect issuer, such as https://login.example.com'
  const parsed = parseManifest(parse(starterCard(answers)), { id: 'agent', requestOrigin: localUrl({}) })
  // Only a host can fetch a card: of such a manifest, the rest is checked.
  if ('source' in parsed && parsed.source) return undefined
  const result = 'errors' in parsed ? parsed : compile(parsed)
  const isOf = (pointer: string): boolean => FIELDS[field].includes(pointer)
  if ('errors' in result) return result.errors.find(error => isOf(error.pointer))?.message
  const { issues } = result.compiled.report
  return issues.find(({ severity, pointer }) => severity !== 'info' && isOf(`/card${pointer}`))?.message
}

/** Writes what goes with the first card, and returns what was written. What exists stays as it is. */
const writeSurroundings = (cwd: string): string[] => {
  const repository = foldersOfRepository(cwd).at(-1)
  const defaults = join(CARDS_FOLDER, 'defaults.yaml')
  const set = toSlug(basename(repository ?? cwd), 'my-cards')
  const written: string[] = []
  if (findDefaults(CARDS_FOLDER, cwd) === undefined && createFile(defaults, starterDefaults(set), cwd))
    written.push(`created ${defaults}: the set ${set}; another owner of the same host needs another name`)
  if (repository !== undefined && addMissingLines('.gitignore', ['.env', '.env.*', '!.env.example'], cwd))
    written.push('added .env to .gitignore')
  return written
}

/** Returns what to do next: for an agent that clients call through the host, each command until the first call. */
const nextSteps = (starter: Required<StarterAnswers>, manifest: Json, flag: string, cwd: string): string[] => {
  const { id, reach, url, secret, callers, host } = starter
  const file = fileOf(id)
  const isOwn = isLoopback(host)
  const isLocal = isLocalAddress(url)
  const isIssuer = isIssuerUrl(callers)
  const isExample = /^https:\/\/[^/]*\.example\.com\//.test(url)
  const steps = isUneditedStarter(manifest)
    ? [`Edit ${file}: sync-card skips it as long as it describes no agent.`]
    : [`Edit ${file}${isExample ? `: its URL, ${url}, is only an example` : ' to add what else clients should know'}.`]
  if (!isJsonObject(manifest) || manifest.route !== 'gateway') {
    const [lint, publish] = ['npx sync-card lint', `npx sync-card${flag}`].map(colors.cyan)
    const other = isOwn ? ' For another host, write its SYNC_CARD_URL and SYNC_CARD_TOKEN into .env.' : ''
    return [...steps, `Then check it with ${lint}, and publish it with ${publish}.`, `It goes to ${host}.${other}`]
  }
  const addCommand = (text: string, command: string) => steps.push(text, colors.cyan(`  ${command}`))
  const address = 'a public https address, such as that of a tunnel'
  if (isLocal && isOwn) steps.push(`No deployed host can reach ${url}: there, the agent needs ${address}.`)
  else if (isLocal) steps.push(`${host} cannot reach ${url}: give it ${address}, or use --host local and npm start.`)
  if (secret && callers === 'anyone') steps.push(`Everyone can call it, with the rights of ${secret}.`)
  if (!secret && callers !== 'anyone' && !isLocal)
    steps.push(`Only the host checks callers. If ${url} itself needs no credential, anyone can call it there.`)
  if (isIssuer) steps.push(`Tokens of ${callers} must have the audience ${host}/agents/${id}.`)
  const variables = isOwn ? missingVariables(isIssuer ? [url, callers] : [url], secret, cwd) : ''
  if (variables !== '') {
    const token = secret ? ', with the bearer token in place of …' : ''
    addCommand(`Set what the host needs to call it${token}:`, `printf '\\n%s' ${variables} >> .dev.vars`)
    addCommand(START_HELP, 'npm start')
  } else {
    if (secret) addCommand('Give the host the bearer token:', `npx wrangler secret put ${secret}`)
    addCommand('Register it:', `npx sync-card${flag}`)
  }
  const createToken = `CALLER_TOKEN=$(npx sync-card token create --scope call --agent ${id}${flag})`
  if (callers === 'tokens') addCommand('Make a token for each caller:', createToken)
  if (isIssuer) addCommand('Put such a token into CALLER_TOKEN:', 'CALLER_TOKEN=…')
  const options = callers === 'anyone' ? {} : { options: '-H "Authorization: Bearer $CALLER_TOKEN" ' }
  const how = reach === 'mcp' ? ', with the name of a tool and its arguments' : ''
  const part = reach === 'mcp' ? { data: { skillId: 'TOOL', arguments: {} } } : { text: 'hello' }
  addCommand(`Call it${how}:`, curlCall(`${host}/agents/${id}`, 'SendMessage', part, options))
  return steps
}

const START_HELP =
  'Start the host in a terminal of its own. It registers the cards. ' +
  'If it is running, stop it first: it reads .dev.vars only once.'

/** Returns the variables that a host on this machine needs to call an agent, as arguments of a shell command. */
const missingVariables = (urls: readonly string[], secret: string, cwd: string): string => {
  const { ALLOWED_ORIGINS } = readEnvFile(cwd, '.dev.vars')
  const current = parseOrigins(ALLOWED_ORIGINS)
  const origins = urls.filter(url => blockReason(url, current) !== undefined).map(url => new URL(url).origin)
  const allowed = [...new Set([ALLOWED_ORIGINS, ...origins])].filter(Boolean).join(' ')
  const variables = [secret ? `${secret}=…` : [], origins.length > 0 ? `ALLOWED_ORIGINS=${allowed}` : []].flat()
  return variables.map(shellQuote).join(' ')
}

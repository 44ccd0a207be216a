import type { Context } from '../../context.ts'
import { ExitCode } from '../../errors.ts'
import { type AddCommand, collect } from '../../options.ts'
import { colors, formatTable, type Lines } from '../../terminal.ts'
import type { CardVerification } from './verify-source.ts'

type Flags = { key?: string[]; json?: true }

const KEY_HELP =
  'a key to trust: a file with a JWK or JWK Set, the URL of one, or a DID such as did:web:example.com; repeatable. ' +
  'Default: the keys that the server of the card publishes'

/** Adds `verify`, which checks the signatures of cards. It needs no host. */
export const addVerify: AddCommand = (program, context, exit) => {
  program
    .command('verify')
    .description('check who signed a card, and which SDKs will accept it')
    .argument('<files...>', 'files with a card, or URLs of cards')
    .option('--key <file>', KEY_HELP, collect)
    .option('--json', 'print one JSON object on stdout')
    .action(async (named: string[], flags: Flags) => exit(await verify(named, flags, context)))
}

const verify = async (named: readonly string[], { key = [], json }: Flags, context: Context): Promise<number> => {
  // Loaded only here: the libraries that verify take longer to load than the program.
  const { checkNamedKeys, verifySource } = await import('./verify-source.ts')
  await checkNamedKeys(key, context)
  const cards: CardVerification[] = []
  for (const source of named) {
    const card = await verifySource(source, key, context)
    cards.push(card)
    if (!json) context.terminal.report(verifyText(card))
  }
  if (json) context.terminal.out(JSON.stringify({ cards }))
  return Math.max(...cards.map(exitCodeOf))
}

const exitCodeOf = (card: CardVerification): number => {
  if ('failed' in card) return card.failed === 'invalid' ? ExitCode.rejected : ExitCode.unreachable
  if (card.verified) return ExitCode.ok
  // The key files were read before, so these are key sets that the user named and that could not be fetched.
  return card.trust.basis === 'given' && card.keys.errors.length > 0 ? ExitCode.unreachable : ExitCode.outOfDate
}

const TICK = colors.green('✓')
const CROSS = colors.red('✗')

/** Formats the result for one card: whether it is verified and why not, its signatures, their keys, and the SDKs. */
const verifyText = (card: CardVerification): Lines => {
  if ('failed' in card) return `${CROSS} ${card.source}${card.at ?? ''} ${card.error.replace(/\.$/, '')}.`
  const { source, verified, reason, trust, keys, signatures, sdks, missing } = card
  // Without a signature, the keys that the card or its server names do not matter, and neither do the SDKs.
  if (signatures.length === 0 && trust.basis !== 'given') return `${CROSS} ${source} is not verified. ${reason}`
  const isExplained = trust.basis === 'signer' && reason?.includes(trust.meaning)
  const notes = [...keys.errors, missing ?? []].flat()
  const verdicts = sdks.map(({ sdk, accepted, reason = '' }) =>
    accepted ? [TICK, sdk, 'accepts the card'] : [CROSS, sdk, reason],
  )
  return [
    `${verified ? TICK : CROSS} ${source} is ${verified ? 'signed with a trusted key' : 'not verified'}.`,
    ...(reason === undefined ? [] : [`  ${reason}`]),
    ...(isExplained ? [] : [`  ${colors.dim(trust.meaning)}`]),
    ...notes.map(note => `  ${colors.yellow(note)}`),
    ...section('Signatures', signatures.map(signatureRow)),
    ...section('Verifiers', verdicts),
  ]
}

const section = (title: string, rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0 ? [] : [`  ${title}`, ...formatTable(rows).map(row => `  ${row}`)]

const signatureRow = (signature: Exclude<CardVerification, { failed: string }>['signatures'][number]): string[] => {
  const { kid = '(no kid)', version } = signature
  // Every thumbprint is shorter.
  const name = `${kid.slice(0, 100)}${version === undefined ? '' : ` for A2A ${version}`}`
  if (!signature.valid) return [CROSS, name, signature.reason]
  const { rule, omits, key } = signature
  const covered = omits === undefined ? 'covers the whole card' : `covers all but ${omits}`
  return [TICK, name, `${rule}: ${covered} (key from ${key.from})`]
}

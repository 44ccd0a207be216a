import type { Context } from '../../context.ts'
import { ExitCode } from '../../exit-codes.ts'
import { type AddCommand, collect } from '../../options.ts'
import { type CardVerification, verifyText } from '../../verify/index.ts'

type Flags = { key?: string[]; json?: true }

/** Adds `verify`, which checks the signatures of cards. It needs no host. */
export const addVerify: AddCommand = (program, context, exit) => {
  program
    .command('verify')
    .description('check who signed a card, and which SDKs will accept it')
    .argument('<files...>', 'files with a card, or URLs of cards')
    .option(
      '--key <file>',
      'a key to trust: a file with a JWK or JWK Set, the URL of one, or a DID such as did:web:example.com; repeatable. Default: the keys that the server of the card publishes',
      collect,
    )
    .option('--json', 'print one JSON object on stdout')
    .action(async (named: string[], flags: Flags) => exit(await verify(named, flags, context)))
}

const verify = async (named: readonly string[], { key = [], json }: Flags, context: Context): Promise<number> => {
  const { terminal } = context
  // Loaded only here: the libraries that verify take longer to load than the program.
  const { checkNamedKeys, verifySource } = await import('../../verify/verify-card.ts')
  await checkNamedKeys(key, context)
  const cards: CardVerification[] = []
  for (const source of named) {
    const card = await verifySource(source, key, context)
    cards.push(card)
    if (!json) terminal.report(verifyText(card))
  }
  if (json) terminal.out(JSON.stringify({ cards }))
  return Math.max(...cards.map(exitCodeOf))
}

const exitCodeOf = (card: CardVerification): number => {
  if ('failed' in card) return card.failed === 'invalid' ? ExitCode.rejected : ExitCode.unreachable
  if (card.verified) return ExitCode.ok
  // The key files were read before, so these are key sets that the user named and that could not be fetched.
  return card.trust.basis === 'given' && card.keys.errors.length > 0 ? ExitCode.unreachable : ExitCode.outOfDate
}

import type { Context } from '../context.ts'
import { putSecret } from '../deploy/wrangler.ts'
import { ExitCode, UsageError } from '../exit-codes.ts'
import { findHost, isUnencrypted } from '../hosts/index.ts'
import { type AddCommand, createHostClient } from '../options.ts'
import { createSigningKey } from '../signing-key.ts'

type CreateFlags = { print?: true; keep?: string }

/** Adds `keys`, which makes the keys that a host signs with. */
export const addKeys: AddCommand = (program, context, exit) => {
  const keys = program.command('keys').description('make the key that a host signs with')
  keys
    .command('create')
    .description('make a key and store it as the secret SIGNING_KEY, which it replaces')
    .argument('[args...]', 'arguments for `wrangler secret put`, such as: -- --env staging')
    .option('--print', 'print the secret on stdout instead')
    .option(
      '--keep <host>',
      'publish the keys that this host publishes now as well: its URL, or its name in sync-card.yaml',
    )
    .action(async (args: string[], flags: CreateFlags) => exit(await create(args, flags, context)))
}

const create = async (args: readonly string[], { print, keep }: CreateFlags, context: Context): Promise<number> => {
  const { terminal, cwd, processEnv } = context
  const key = createSigningKey()
  const kept = keep === undefined ? [] : await fetchKeys(keep, context)
  const secret = JSON.stringify(kept.length > 0 ? { keys: [key, ...kept] } : key)
  if (print) {
    terminal.out(secret)
    return ExitCode.ok
  }
  const exitCode = await putSecret('SIGNING_KEY', secret, args, { cwd, env: processEnv })
  if (exitCode !== 0) return exitCode
  terminal.info(`SIGNING_KEY is now ${key.kid}, which nobody has seen.`)
  if (keep === undefined)
    terminal.info('What another key signed is no longer valid; to keep such a key published: --keep <host>')
  return ExitCode.ok
}

/** Returns the public keys of a host. */
const fetchKeys = async (host: string, context: Context) => {
  const { url } = findHost(host.includes(':') ? { url: host } : { host }, context)
  if (isUnencrypted(url))
    throw new UsageError(`${url} is not encrypted, so anybody on the way could add a key of their own: use https.`)
  const keys = await createHostClient({ url, token: '' }, context).getKeys()
  if (keys === undefined) throw new UsageError(`${url} publishes no keys: leave out --keep.`)
  return keys
}

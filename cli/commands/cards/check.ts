import { verifyReceipt } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { ExitCode } from '../../exit-codes.ts'
import { type AddCommand, addHostOptions, connectTo, type HostFlags, reportMissing } from '../../options.ts'
import { receiptText } from '../../reporters/index.ts'

type CheckFlags = HostFlags & { send?: true }

/** Adds `check`, which has the host test an agent against its card. */
export const addCheck: AddCommand = (program, context, exit) => {
  addHostOptions(program.command('check'), 'write')
    .description('have the host test an agent against its card, and sign the receipt')
    .argument('<id>', 'the agent')
    .option(
      '--send',
      'also send the agent a message, and another one for a stream: it works then, which may cost money',
    )
    .action(async (id: string, flags: CheckFlags) => exit(await check(id, flags, context)))
}

const check = async (id: string, flags: CheckFlags, context: Context): Promise<number> => {
  const { terminal } = context
  const connection = connectTo(flags, context)
  const { client } = connection
  const served = await client.check(id, flags.send === true)
  if (served === undefined) return reportMissing(id, connection, context)
  const verification = await verifyReceipt(served, await client.getKeys())
  if (flags.json) terminal.out(JSON.stringify({ ...served, verification }))
  else terminal.report(receiptText(served, verification))
  const isGood = served.receipt.summary.failed === 0 && verification.signature !== 'invalid'
  return isGood ? ExitCode.ok : ExitCode.outOfDate
}

import type { JWK } from 'jose'
import { RECEIPT_TYPE, type ReceiptTest, type ServedReceipt } from '../../../src/card/model/index.ts'
import { canonicalJson } from '../../../src/json/index.ts'
import { readKeys, verifySignature } from '../../client/index.ts'
import type { Context } from '../../context.ts'
import { ExitCode } from '../../errors.ts'
import { type AddCommand, addHostOptions, connect, type HostFlags, missingAgent } from '../../options.ts'
import { colors, formatTable } from '../../terminal.ts'

type CheckFlags = HostFlags & { send?: true }

/** Adds `check`, which has the host test an agent against its card. */
export const addCheck: AddCommand = (program, context, exit) => {
  addHostOptions(program.command('check'), 'write')
    .description('have the host test an agent against its card, and sign the receipt')
    .argument('<id>', 'the agent')
    .option(
      '--send',
      'also send the agent a message, and another for a stream; the agent does work, which may cost money',
    )
    .action(async (id: string, flags: CheckFlags) => exit(await check(id, flags, context)))
}

const check = async (id: string, flags: CheckFlags, context: Context): Promise<number> => {
  const connection = connect(flags, context)
  const served = await connection.client.call('POST /agents/:id/check', {
    ...{ params: { id }, body: flags.send ? { send: true } : {}, ignore: 'agent-not-found' },
    // The host gives up earlier. It never sends the agent a second message.
    ...{ timeoutMs: 120_000, once: true },
  })
  if (served === undefined) throw await missingAgent(id, connection)
  const verification = await verifyReceipt(served, await readKeys(connection.client))
  if (flags.json) context.terminal.out(JSON.stringify({ ...served, verification }))
  else context.terminal.report(receiptText(served, verification))
  return served.receipt.summary.failed > 0 || verification.signature === 'invalid' ? ExitCode.outOfDate : ExitCode.ok
}

/** The signature of a receipt: `valid` with the name of the host's key, or why it proves nothing. */
type ReceiptVerification = { signature: 'valid'; kid: string } | { signature: 'none' | 'invalid'; reason: string }

/** Verifies the signature of a receipt with the keys that its host publishes. */
const verifyReceipt = async (served: ServedReceipt, keys?: readonly JWK[]): Promise<ReceiptVerification> => {
  const { receipt, signature, unsigned } = served
  if (signature === undefined) return { signature: 'none', reason: unsigned ?? 'The receipt has no signature.' }
  const [head, detached, value] = signature.split('.')
  const payload = Buffer.from(canonicalJson(receipt)).toString('base64url')
  const verified = detached === '' && (await verifySignature(`${head}.${payload}.${value}`, keys, RECEIPT_TYPE))
  if (verified) return { signature: 'valid', kid: verified.kid }
  return { signature: 'invalid', reason: 'The signature is not one of this host over this receipt.' }
}

/** Formats a line for all tests that ended alike, then how many passed, and whether the signature is valid. */
const receiptText = ({ receipt }: ServedReceipt, verification: ReceiptVerification): string[] => {
  const { agent, card, checked, host, tests, send, summary } = receipt
  const groups = new Map<string, ReceiptTest & { protocols: string[] }>()
  for (const test of tests) {
    const { through, title, result, reason, happened, protocol } = test
    const ending = JSON.stringify([through, title, result, reason, result === 'failed' && happened])
    const alike = groups.get(ending) ?? { ...test, protocols: [] }
    groups.set(ending, { ...alike, protocols: [...alike.protocols, protocol ?? []].flat() })
  }
  const failed = summary.failed > 0 ? colors.red(`${summary.failed} failed`) : '0 failed'
  const counts = `${summary.passed} passed, ${failed}, ${summary.skipped} skipped`
  return [
    `${colors.bold(agent)} · card ${card.version} · ${checked} · ${host}`,
    ...formatTable([...groups.values()].map(toRow)),
    counts + (send ? '' : colors.dim(' (no message was sent; --send sends one)')),
    verification.signature === 'valid'
      ? `The receipt is signed by the host, with its key ${verification.kid}.`
      : `The receipt proves nothing to others: ${verification.reason}`,
  ]
}

const MARKS = { passed: colors.green('✓'), failed: colors.red('✗'), skipped: colors.dim('–') }

const toRow = (test: ReceiptTest & { protocols: readonly string[] }): string[] => {
  const { result, through, title, reason = '', claimed, happened = '', protocols } = test
  const details = [...protocols, ...(result === 'failed' ? [`${claimed}; observed: ${happened}`] : [])]
  const text = result === 'passed' ? title : `${title}: ${reason}`
  const more = details.length === 0 ? '' : ` ${colors.dim(`(${details.join(', ')})`)}`
  return [MARKS[result] ?? result, through, text + more]
}

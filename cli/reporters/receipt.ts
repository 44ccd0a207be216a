import type { Receipt, ReceiptTest, ServedReceipt, TestResult } from '../../src/card/model/index.ts'
import type { ReceiptVerification } from '../client/index.ts'
import { colors, formatTable } from '../terminal.ts'

/** Formats a receipt for people: a line for all tests that ended alike, then how many passed, and whether the signature is valid. */
export const receiptText = ({ receipt }: ServedReceipt, verification: ReceiptVerification): string[] => {
  const { agent, card, checked, host, tests } = receipt
  return [
    `${colors.bold(agent)} · card ${card.version} · ${checked} · ${host}`,
    ...formatTable(groupByEnding(tests).map(toRow)),
    summaryText(receipt),
    verificationText(verification),
  ]
}

const MARKS: Record<TestResult, string> = {
  passed: colors.green('✓'),
  failed: colors.red('✗'),
  skipped: colors.dim('–'),
}

/** Formats tests that ended alike in one line, with the protocols of all. */
const toRow = (tests: readonly ReceiptTest[]): string[] => {
  const [test] = tests
  if (test === undefined) return []
  const { result, through, title, reason = '' } = test
  const protocols = tests.flatMap(({ protocol }) => protocol ?? [])
  const text = result === 'passed' ? title : `${title}: ${reason}`
  const detail = [...protocols, differenceOf(test)].filter(part => part !== '').join(', ')
  return [MARKS[result], through, detail === '' ? text : `${text} ${colors.dim(`(${detail})`)}`]
}

/** What was claimed and what happened matter where they differ. */
const differenceOf = ({ result, claimed, happened = '' }: ReceiptTest): string =>
  result === 'failed' ? `${claimed}; observed: ${happened}` : ''

const groupByEnding = (tests: readonly ReceiptTest[]): ReceiptTest[][] => {
  const groups = new Map<string, ReceiptTest[]>()
  for (const test of tests) groups.set(endingOf(test), [...(groups.get(endingOf(test)) ?? []), test])
  return [...groups.values()]
}

const endingOf = ({ through, title, result, reason, ...test }: ReceiptTest): string =>
  JSON.stringify([through, title, result, reason, result === 'failed' && test.happened])

const summaryText = ({ summary: { passed, failed, skipped }, send }: Receipt): string => {
  const counts = [`${passed} passed`, failed > 0 ? colors.red(`${failed} failed`) : '0 failed', `${skipped} skipped`]
  return `${counts.join(', ')}${send ? '' : colors.dim(' (no message was sent; --send sends one)')}`
}

const verificationText = (verification: ReceiptVerification): string =>
  verification.signature === 'valid'
    ? `The receipt is signed by the host, with its key ${verification.kid}.`
    : `The receipt proves nothing to others: ${verification.reason}`

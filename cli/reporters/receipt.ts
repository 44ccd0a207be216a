import type { Receipt, ReceiptTest, ServedReceipt, TestResult } from '../../src/card/model/receipt.ts'
import type { ReceiptVerification } from '../client/index.ts'
import { colors, formatTable, withoutControls } from '../terminal.ts'

/** Formats a receipt for people: a line for each test, then how many passed, and whether the signature is valid. */
export const receiptText = ({ receipt }: ServedReceipt, verification: ReceiptVerification): string => {
  const { agent, card, checked, host, tests } = receipt
  // The texts of a host are not trusted: they must not command the terminal.
  const [id, version, time, origin] = [agent, card.version, checked, host].map(withoutControls)
  return [
    `${colors.bold(id ?? '')} · card ${version} · ${time} · ${origin}`,
    formatTable(tests.map(toRow)),
    summaryText(receipt),
    verificationText(verification),
  ].join('\n')
}

const MARKS: Record<TestResult, string> = {
  passed: colors.green('✓'),
  failed: colors.red('✗'),
  skipped: colors.dim('–'),
}

const toRow = ({ result, through, protocol = '', title, claimed, happened, reason = '' }: ReceiptTest): string[] => {
  // What was claimed and what happened matter where they differ.
  const difference = result === 'failed' ? colors.dim(` (${withoutControls(`${claimed}; ${happened ?? ''}`)})`) : ''
  const text = result === 'passed' ? title : `${title}: ${reason}`
  return [MARKS[result], through, withoutControls(protocol), withoutControls(text) + difference]
}

const summaryText = ({ summary: { passed, failed, skipped }, send }: Receipt): string => {
  const counts = [`${passed} passed`, failed > 0 ? colors.red(`${failed} failed`) : '0 failed', `${skipped} skipped`]
  return `${counts.join(', ')}${send ? '' : colors.dim(' (no message was sent; --send sends one)')}`
}

const verificationText = (verification: ReceiptVerification): string =>
  verification.signature === 'valid'
    ? `The receipt is signed by the host, with its key ${withoutControls(verification.kid)}.`
    : `The receipt proves nothing to others: ${withoutControls(verification.reason)}`

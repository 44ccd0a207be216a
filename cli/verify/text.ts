import { colors, formatTable, type Lines } from '../terminal.ts'
import type { CardVerification } from './verify-card.ts'

type Verified = Exclude<CardVerification, { failed: string }>

const TICK = colors.green('✓')
const CROSS = colors.red('✗')

/** Longer than any thumbprint. */
const MAX_KID_LENGTH = 100

/** Formats the result for one card: whether it is verified and why not, its signatures, where their keys are from, and the SDKs. */
export const verifyText = (card: CardVerification): Lines => {
  if ('failed' in card) return `${CROSS} ${card.source}${card.at ?? ''} ${card.error.replace(/\.$/, '')}.`
  const { source, verified, reason, trust, keys, signatures, sdks, missing } = card
  const notes = [...keys.errors, ...(missing === undefined ? [] : [missing])]
  // Without a signature, the keys that the card or its server names do not matter, and neither do the SDKs.
  if (signatures.length === 0 && trust.basis !== 'given') return `${CROSS} ${source} is not verified. ${reason}`
  return [
    `${verified ? TICK : CROSS} ${source} is ${verified ? 'signed with a trusted key' : 'not verified'}.`,
    ...(reason === undefined ? [] : [`  ${reason}`]),
    ...(trust.basis === 'signer' && reason?.includes(trust.meaning) ? [] : [`  ${colors.dim(trust.meaning)}`]),
    ...notes.map(note => `  ${colors.yellow(note)}`),
    ...section('Signatures', signatures.map(signatureRow)),
    ...section(
      'Verifiers',
      sdks.map(({ sdk, accepted, reason = '' }) => [
        accepted ? TICK : CROSS,
        sdk,
        accepted ? 'accepts the card' : reason,
      ]),
    ),
  ]
}

const section = (title: string, rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0 ? [] : [`  ${title}`, ...formatTable(rows).map(row => `  ${row}`)]

const signatureRow = (signature: Verified['signatures'][number]): string[] => {
  const { kid = '(no kid)', version } = signature
  const name = `${kid.slice(0, MAX_KID_LENGTH)}${version === undefined ? '' : ` for A2A ${version}`}`
  return [signature.valid ? TICK : CROSS, name, describe(signature)]
}

const describe = (signature: Verified['signatures'][number]): string => {
  if (!signature.valid) return signature.reason
  const { rule, omits, key } = signature
  const covered = omits === undefined ? 'covers the whole card' : `covers all but ${omits}`
  return `${rule}: ${covered} (key from ${key.from})`
}

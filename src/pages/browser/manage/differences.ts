import { plural } from '../../text/index.ts'
import { element } from '../elements/index.ts'
import type { Difference } from './answers.ts'
import { code, list } from './view.ts'

const OPERATIONS = { add: 'added', remove: 'removed', replace: 'changed', more: '' } as const

/** Returns the differences of two documents, folded. */
export const differenceDetails = (title: string, differences: readonly Difference[]): HTMLElement => {
  const count = differences.reduce((sum, { op, count = 0 }) => sum + (op === 'more' ? count : 1), 0)
  return element(
    'details',
    {},
    element('summary', {}, `${title} (${count})`),
    list(differences.map(describeDifference)),
  )
}

const describeDifference = ({ op, pointer, before, after, omitted = [], count = 0 }: Difference): (Node | string)[] => {
  if (op === 'more') return [`${plural(count, 'more difference')}`]
  const value = (name: 'before' | 'after', shown: unknown): (Node | string)[] => {
    if (omitted.includes(name)) return ['(not shown: too long, or it looks like a secret)']
    return shown === undefined ? [] : [code(JSON.stringify(shown))]
  }
  const values =
    op === 'replace'
      ? [...value('before', before), ' → ', ...value('after', after)]
      : [...value('before', before), ...value('after', after)]
  return [code(pointer || '(whole document)'), ` ${OPERATIONS[op]}`, ...(values.length > 0 ? [': ', ...values] : [])]
}

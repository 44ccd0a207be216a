import type { ResponseOf } from '../../api/client/index.ts'
import { type Child, Code, Fold, List, Pointer } from './elements.tsx'
import { plural } from './text.ts'

/** What differs between two documents at one place, as the API reports it. */
export type Difference = ResponseOf<'GET /agents/:id/revisions/:seq/diff'>['manifest'][number]

const OPERATIONS = { add: 'added', remove: 'removed', replace: 'changed', more: '' } as const

type DifferencesProps = { title: string; open?: boolean; differences: readonly Difference[] }

/** The differences of two documents, if there are any: what was added, removed and changed, and where. */
export const Differences = ({ title, open = false, differences }: DifferencesProps) =>
  differences.length > 0 && (
    <Fold title={title} open={open}>
      <List items={differences.map(each => <DifferenceLine {...each} />)} />
    </Fold>
  )

const DifferenceLine = ({ op, pointer, before, after, omitted = [], count = 0 }: Difference) => {
  if (op === 'more') return <>{plural(count, 'more difference')}</>
  const value = (name: 'before' | 'after', shown: unknown): Child => {
    if (omitted.includes(name)) return '(not shown: too long, or it looks like a secret)'
    return shown === undefined ? undefined : <Code text={JSON.stringify(shown)} />
  }
  return (
    <span class={`difference ${op}`}>
      <Pointer pointer={pointer} /> {OPERATIONS[op]} {value('before', before)}
      {op === 'replace' && ' → '}
      {value('after', after)}
    </span>
  )
}

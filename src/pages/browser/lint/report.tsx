import { useState } from 'hono/jsx/dom'
import type { Json } from '../../../json/index.ts'
import { Code, Fold, Hint, JsonText, NoteFold, Pointer, Prose, representationLabels } from '../../components/index.ts'
import { copyText } from '../dom/index.ts'
import { type Change, type CheckedText, describeChange, Findings, NOTE_GROUPS } from '../report/index.ts'

export { changeText, checkText } from '../report/index.ts'

type ReportProps = {
  checked: CheckedText
  input: HTMLTextAreaElement
  /** Changes the text. `done` describes that. */
  change: (changes: readonly Change[], done: string) => void
}

/** What a check has found: the lines to correct, then, on demand, what this host would make of the card. */
export const Report = ({ checked, input, change }: ReportProps) => {
  const { marks, result } = checked
  const { dialect, representations = {}, dropped = {} } = result ?? {}
  const documents = Object.entries(representations)
  return (
    <>
      {marks.length > 0 && (
        <>
          <h2>Findings</h2>
          <Findings
            {...checked}
            input={input}
            onFix={(fix, pointer) => change([fix], `${pointer}: ${describeChange(fix)}`)}
          />
        </>
      )}
      {result?.valid && <h2>What this host makes of the card</h2>}
      {dialect !== undefined && <p>The dialect of this card is {labelOf(dialect)}.</p>}
      {NOTE_GROUPS.map(([name, title, meaning]) => (
        <NoteFold
          key={name}
          {...{ title, meaning, notes: result?.[name] ?? [] }}
          content={name === 'filled' && <Defaults checked={checked} change={change} />}
        />
      ))}
      {documents.length > 0 && (
        <Fold title={`What clients get (${documents.length})`}>
          <Hint>The card in every representation that this host would serve.</Hint>
          {documents.map(([name, document]) => (
            <Representation key={name} name={name} document={document} dropped={dropped[name] ?? []} />
          ))}
        </Fold>
      )}
    </>
  )
}

/** What this host fills in, as lines that are added. */
const Defaults = ({ checked: { result, defaults }, change }: Pick<ReportProps, 'checked' | 'change'>) => (
  <>
    <ul class="added">
      {result?.filled?.map(({ pointer, message, change }) => (
        <li dir="auto">
          <ins>
            <Pointer pointer={pointer} />
            {change && [': ', <Code text={JSON.stringify(change.value)} />]}
          </ins>{' '}
          {(!change || !message.startsWith('set to')) && <Prose text={message} />}
        </li>
      ))}
    </ul>
    {defaults.length > 0 && (
      <button type="button" onClick={() => change(defaults, 'Written into the card')}>
        Write these into the card
      </button>
    )}
  </>
)

type RepresentationProps = { name: string; document: Json; dropped: readonly string[] }

/** A representation, which is rendered when it is opened. */
const Representation = ({ name, document, dropped }: RepresentationProps) => {
  const [isShown, setShown] = useState(false)
  const label = labelOf(name)
  const copyAll = ({ currentTarget }: Event) =>
    copyText(currentTarget as HTMLElement, JSON.stringify(document, null, 2))
  const all = (
    <button type="button" aria-live="polite" onClick={copyAll}>
      Copy all of it
    </button>
  )
  return (
    <details class="representation" onToggle={() => setShown(true)}>
      <summary>{label}</summary>
      {dropped.length > 0 && <Hint>Left out: {dropped.join(', ')}</Hint>}
      {isShown && <JsonText id={`document-${name}`} label={`The card in ${label}`} value={document} more={all} />}
    </details>
  )
}

const labelOf = (name: string): string => (representationLabels as Readonly<Record<string, string>>)[name] ?? name

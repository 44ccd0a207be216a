import { parsePointer } from '../../../json/index.ts'
import { escapeInvisible, Hint, Message, Pointer, Prose, plural, shorten } from '../../components/index.ts'
import { selectLine } from '../dom/index.ts'
import type { Finding } from './lint-result.ts'

/** Something about a part of a document, at a line of its text. The message goes on after the pointer. */
export type Mark = {
  line: number
  kind: keyof typeof KIND_LABELS
  pointer?: string
  message: string
  /** The rule of the linter that found it. */
  rule?: string
  /** What corrects it. Its pointers are into the document. */
  change?: Change
}

/** A change of a document: an operation of a JSON Patch. */
export type Change = NonNullable<Finding['change']>

type FindingsProps = {
  text: string
  marks: readonly Mark[]
  /** The field that has the text. */
  input: HTMLTextAreaElement | null
  /** Applies the change that corrects what is at a pointer. */
  onFix: (change: Change, pointer: string) => void
}

const KIND_LABELS = { bad: 'Error', warn: 'Warning', info: 'Suggestion' } as const

/** The lines that are shown around a marked one. */
const CONTEXT = [-2, -1, 0, 1, 2]

/** Findings that are shown: a text that is no YAML can have one for each word. */
const MAX_MARKS = 200

/** The marked lines of a text with those around them, and under each what is wrong with it. */
export const Findings = ({ text, marks, input, onFix }: FindingsProps) => {
  const byLine = Map.groupBy(marks.slice(0, MAX_MARKS), ({ line }) => line)
  const near = new Set([...byLine.keys()].flatMap(line => CONTEXT.map(offset => line + offset)))
  const shown = text
    .split(/\r\n?|\n/)
    .flatMap((content, index) => (near.has(index + 1) ? [{ line: index + 1, content }] : []))
  return (
    <>
      <ol class="lines">
        {shown.map(({ line, content }, index) => [
          index > 0 && shown[index - 1]?.line !== line - 1 && (
            <li class="gap" aria-hidden="true">
              ⋯
            </li>
          ),
          <li class={byLine.has(line) ? 'marked' : undefined}>
            <button type="button" aria-label={`Go to line ${line}`} onClick={() => input && selectLine(input, line)}>
              {line}
            </button>
            <code dir="ltr">{shorten(escapeInvisible(content), 500)}</code>
            {byLine.get(line)?.map(({ kind, pointer = '', message, rule, change }) => (
              <Message kind={kind}>
                <strong>{KIND_LABELS[kind]}</strong> {pointer && <Pointer pointer={pointer} />} <Prose text={message} />
                {rule && ` (${rule})`}
                {change && (
                  <button type="button" class="fix" onClick={() => onFix(change, pointer)}>
                    {describeChange(change)}
                  </button>
                )}
              </Message>
            ))}
          </li>,
        ])}
      </ol>
      {marks.length > MAX_MARKS && <Hint>{plural(marks.length - MAX_MARKS, 'more finding')}</Hint>}
    </>
  )
}

const MAX_VALUE_LENGTH = 60

/** Returns a change as a request, such as `Set to false`. */
export const describeChange = ({ op, path, from = '', value }: Change): string => {
  if (op === 'remove') return 'Remove'
  if (op !== 'move') return `Set to ${shorten(escapeInvisible(JSON.stringify(value) ?? ''), MAX_VALUE_LENGTH)}`
  const [place, old] = [path, from].map(parsePointer)
  const isRename = place?.slice(0, -1).join() === old?.slice(0, -1).join()
  return isRename ? `Rename to ${place?.at(-1)}` : `Move to ${place?.join('.')}`
}

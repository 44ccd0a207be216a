import { type RefObject, useState } from 'hono/jsx/dom'
import type { JsonObject } from '../../../json/index.ts'
import { plural } from '../../components/index.ts'
import { type Completion, complete } from './completion.ts'
import { PLAIN_INPUT, prose } from './controls.tsx'

type EditorProps = {
  text: string
  /** The JSON Schema that completes the text; undefined if it could not be loaded. */
  schema: JsonObject | undefined
  input: RefObject<HTMLTextAreaElement | null>
  onChange: (text: string) => void
}

type List = Completion & { active: number; style: Record<string, string> }

/** A field for a manifest, with the members and values that its schema allows at the caret. */
export const ManifestEditor = ({ text, schema, input, onChange }: EditorProps) => {
  const [list, setList] = useState<List | undefined>(undefined)
  const suggest = (isAsked: boolean): void => {
    const area = input.current
    if (!area || !schema) return
    const found = complete(area.value, area.selectionEnd, schema, isAsked)
    const lines = area.value.slice(0, found?.from).split('\n')
    const style = {
      '--line': String(lines.length),
      '--column': String(lines.at(-1)?.length),
      '--scroll': `${area.scrollTop}px`,
    }
    setList(found && { ...found, active: 0, style })
  }
  const accept = (index: number): void => {
    const option = list?.options[index]
    if (!list || !option || !input.current) return
    input.current.setSelectionRange(list.from, list.to)
    // Unlike `setRangeText`, it can be undone with the keyboard.
    document.execCommand('insertText', false, option.insert)
    if (option.insert.endsWith(': ')) suggest(true)
  }
  const activate = (active: number): void => {
    if (list) setList({ ...list, active })
    document.getElementById(`completion-${active}`)?.scrollIntoView({ block: 'nearest' })
  }
  const handleKey = (event: KeyboardEvent): void => {
    const { active = 0, options: { length } = [] } = list ?? {}
    const actions: Readonly<Record<string, () => void>> = {
      ArrowDown: () => activate((active + 1) % length),
      ArrowUp: () => activate((active + length - 1) % length),
      Enter: () => accept(active),
      Escape: () => setList(undefined),
    }
    const act = event.key === ' ' && event.ctrlKey ? () => suggest(true) : list && actions[event.key]
    // Such a key belongs to an input method.
    if (!act || event.isComposing) return
    event.preventDefault()
    act()
  }
  const write = (): void => {
    onChange(input.current?.value ?? '')
    suggest(false)
  }
  return (
    <div class="editor">
      <textarea
        ref={input}
        id="manifest"
        rows={22}
        wrap="off"
        dir="ltr"
        {...PLAIN_INPUT}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls="completions"
        aria-activedescendant={list && `completion-${list.active}`}
        aria-describedby="manifest-hint"
        value={text}
        onInput={write}
        onKeyDown={handleKey}
        onBlur={() => setList(undefined)}
        onClick={() => setList(undefined)}
      />
      <div id="completions" role="listbox" aria-label="Completions" hidden={!list} style={list?.style}>
        {list?.options.map(({ label, description }, index) => (
          <button
            type="button"
            tabindex={-1}
            id={`completion-${index}`}
            role="option"
            aria-selected={String(index === list.active)}
            onMouseDown={event => {
              // The field keeps the focus.
              event.preventDefault()
              accept(index)
            }}
          >
            <code>{label}</code> {description && <span class="muted">{prose(description)}</span>}
          </button>
        ))}
      </div>
      <div class="visually-hidden" role="status">
        {list && plural(list.options.length, 'completion')}
      </div>
    </div>
  )
}

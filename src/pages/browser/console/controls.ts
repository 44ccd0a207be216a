import { escapeInvisible } from '../../text/index.ts'
import { button, type Child, code, element, field, options } from '../elements/index.ts'
import type { Progress } from './conversation.ts'
import type { Fix, Refusal } from './refusal.ts'

/** The task, the context or nothing that a message continues. */
type Continuation = 'task' | 'context' | 'new'

type Events = Record<`on${'Stop' | 'Cancel' | 'Follow' | 'Reset'}`, () => void>

/** Creates the buttons for a task, and the choice of what the next message continues. */
export const createControls = ({ onStop, onCancel, onFollow, onReset }: Events) => {
  const select = element('select')
  const continuationField = field('This message', select)
  const stop = button('Stop waiting', onStop)
  const cancel = button('Cancel the task', onCancel, { class: 'danger' })
  const follow = button('Follow the task', onFollow)
  const reset = button('New conversation', onReset)
  return {
    element: element('p.console-actions', stop, cancel, follow, reset),
    continuationField,
    readContinuation: () => select.value as Continuation,
    /** Offers what can be done with a task, and while a call is made. */
    show: (progress: Progress | undefined, isCalling: boolean): void => {
      const isOpen = progress !== undefined && progress.taskId !== '' && !progress.hasEnded
      const isWaiting = progress !== undefined && needsPerson(progress)
      stop.hidden = !isCalling
      cancel.hidden = !isOpen
      follow.hidden = !isOpen || isWaiting || isCalling
      reset.hidden = progress === undefined
      continuationField.hidden = progress === undefined
      // What was chosen stays as it is until the call ends.
      if (isCalling) return
      const choices: (readonly [Continuation, string])[] = [['new', 'begins a new conversation']]
      if (progress) choices.unshift(['context', 'follows up: a new task in the same context'])
      if (isOpen) choices.unshift(['task', isWaiting ? 'answers the agent: the same task' : 'goes to the same task'])
      if (select.textContent === choices.map(([, label]) => label).join('')) return
      select.replaceChildren(...options(choices))
    },
    setCancelling: (isCancelling: boolean): void => {
      cancel.disabled = isCancelling
    },
  }
}

/** Checks whether a task goes on only when the person does something. */
export const needsPerson = ({ state }: Progress): boolean =>
  state === 'input required' || state === 'authentication required'

/** Renders why a call has no result, with a button for each fix. */
export const renderRefusal = ({ title, message, cause, fixes }: Refusal, onFix: (fix: Fix) => void): HTMLElement => {
  const text = [element('h3', title), element('p.console-text', { dir: 'auto' }, message)]
  const buttons = fixes.map(fix => button(fix.label, () => onFix(fix)))
  const actions = element('p.console-actions', buttons)
  return element('div.message.bad', { role: 'alert' }, text, cause && renderCause(cause), actions)
}

const renderCause = ({ pointer, line, lines }: NonNullable<Refusal['cause']>): Child => {
  if (line === undefined) return element('p', 'The card does not have ', code(pointer), '.')
  const text = lines.map((text, index) => `${String(line + index).padStart(4)}  ${text}`).join('\n')
  const place = element('p', 'Because of ', code(pointer), `, line ${line} of the card:`)
  return [place, rawText('Lines of the card', escapeInvisible(text))]
}

/** Renders a text that is shown as it is. */
export const rawText = (label: string, text = ''): HTMLPreElement =>
  element('pre.console-raw', { tabindex: '0', role: 'group', 'aria-label': label, dir: 'ltr' }, text)

import { element } from '../elements/index.ts'
import type { Progress } from './conversation.ts'
import { button, field, options } from './dom.ts'

/** What a message continues. */
type Continuation = 'task' | 'context' | 'new'

/** What the controls tell the console. */
type ControlEvents = Record<'onStop' | 'onCancel' | 'onFollow' | 'onReset', () => void>

/** The buttons for a task, and the choice of what the next message continues. Each is there only when it can do something. */
export class Controls {
  readonly element = element('p', { class: 'console-actions' })
  readonly #continuation = element('select')
  readonly continuationField = field('This message', this.#continuation)
  readonly #stop: HTMLButtonElement
  readonly #cancel: HTMLButtonElement
  readonly #follow: HTMLButtonElement
  readonly #reset: HTMLButtonElement

  constructor({ onStop, onCancel, onFollow, onReset }: ControlEvents) {
    this.#stop = button('Stop waiting', onStop)
    this.#cancel = button('Cancel the task', onCancel, { class: 'danger' })
    this.#follow = button('Follow the task', onFollow)
    this.#reset = button('New conversation', onReset)
    this.element.append(this.#stop, this.#cancel, this.#follow, this.#reset)
    this.show(undefined, false)
  }

  get continuation(): Continuation {
    return this.#continuation.value as Continuation
  }

  /** Offers what can be done with a task while a call is made, or none. */
  show(progress: Progress | undefined, isCalling: boolean): void {
    const isOpen = progress !== undefined && progress.taskId !== '' && !progress.hasEnded
    const isWaiting = progress !== undefined && needsPerson(progress)
    this.#stop.hidden = !isCalling
    this.#cancel.hidden = !isOpen
    this.#follow.hidden = !isOpen || isWaiting || isCalling
    this.#reset.hidden = progress === undefined
    this.continuationField.hidden = progress === undefined
    // What was chosen stays as it is until the call ends.
    if (isCalling) return
    const taskLabel = isWaiting ? 'answers the agent: the same task' : 'goes to the same task'
    const choices: (readonly [Continuation, string])[] = [
      ...(isOpen ? [['task', taskLabel] as const] : []),
      ...(progress ? [['context', 'follows up: a new task in the same context'] as const] : []),
      ['new', 'begins a new conversation'],
    ]
    if (this.#continuation.textContent === choices.map(([, label]) => label).join('')) return
    this.#continuation.replaceChildren(...options(choices))
  }

  setCancelling(isCancelling: boolean): void {
    this.#cancel.disabled = isCancelling
  }
}

/** Checks whether a task goes on only when the person does something. */
export const needsPerson = ({ state }: Progress): boolean =>
  state === 'input required' || state === 'authentication required'

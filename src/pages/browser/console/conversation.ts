import type { Artifact, Message, Part, Task } from '@a2a-js/sdk'
import { shorten } from '../../text/index.ts'
import { element } from '../elements/index.ts'
import type { CallEvent } from './agent.ts'
import { type Budget, PartList, renderRest } from './part-list.ts'

/** The turns, messages of one task and artifacts of one task that are shown. */
const MAX_TURNS = 50
const MAX_MESSAGES = 100
const MAX_ARTIFACTS = 100

/** The bytes or characters that all parts of one turn may take together. */
const MAX_TURN_LENGTH = 32 * 1024 * 1024

/** The states of a task by their numbers, as the SDK has them, in words. */
const STATES = [
  ...(['unknown', 'submitted', 'working', 'completed', 'failed'] as const),
  ...(['canceled', 'input required', 'rejected', 'authentication required'] as const),
] as const
type StateName = (typeof STATES)[number]

const ENDED: ReadonlySet<StateName> = new Set(['completed', 'failed', 'canceled', 'rejected'])
const STATE_UNKNOWN = 0
const ROLE_AGENT = 2

/** Where a conversation is: what the next message can continue. */
export type Progress = { taskId: string; contextId: string; state: StateName | undefined; hasEnded: boolean }

/** All turns of the conversation on the page. */
export class Conversation {
  readonly element = element('div.console-log', { role: 'log', 'aria-label': 'Conversation', 'aria-live': 'off' })

  /** Adds a message of the person, whose answer follows. */
  addTurn(parts: readonly Part[]): Turn {
    const turn = new Turn(parts)
    this.element.append(turn.element)
    if (this.element.childElementCount > MAX_TURNS) {
      this.element.firstChild?.remove()
      this.element.ariaLabel = `Conversation, the last ${MAX_TURNS} messages`
    }
    return turn
  }
}

/** A message and what the agent answers. */
export class Turn {
  readonly #budget: Budget = { left: MAX_TURN_LENGTH }
  readonly #badge = element('span.badge')
  readonly #ids = element('span.muted.console-ids')
  readonly #messages = element('div')
  readonly #answer = element(
    'div.console-answer',
    { hidden: '' },
    element('h3', 'Agent'),
    element('p', this.#badge, ' ', this.#ids),
    this.#messages,
  )
  readonly element: HTMLElement
  readonly #artifacts = new Map<string, ShownArtifact>()
  readonly #seenMessages = new Set<string>()
  #isFull = false
  progress: Progress | undefined

  constructor(parts: readonly Part[]) {
    const question = new PartList(this.#budget, parts).element
    this.element = element(
      'article.console-turn',
      element('div.console-question', element('h3', 'You'), question),
      this.#answer,
    )
  }

  /** Shows an event of the answer. */
  apply(event: CallEvent): void {
    this.#answer.hidden = false
    if (event.$case === 'message') {
      const { taskId, contextId } = event.value
      this.#showMessage(event.value)
      this.#setProgress(taskId, contextId, undefined)
    } else if (event.$case === 'task') this.#applyTask(event.value)
    else if (event.$case === 'statusUpdate') {
      const { taskId, contextId, status } = event.value
      if (status?.message) this.#showMessage(status.message)
      this.#setProgress(taskId, contextId, status?.state)
    } else {
      const { artifact, append, taskId, contextId } = event.value
      if (!this.progress) this.#setProgress(taskId, contextId, STATE_UNKNOWN)
      if (!artifact) return
      const shown = this.#artifact(artifact)
      if (append) shown?.append(artifact.parts)
      else shown?.replace(artifact.parts)
    }
  }

  #applyTask({ id, contextId, status, artifacts, history }: Task): void {
    for (const message of history) if (message.role === ROLE_AGENT) this.#showMessage(message)
    if (status?.message) this.#showMessage(status.message)
    for (const artifact of artifacts) this.#artifact(artifact)?.replace(artifact.parts)
    this.#setProgress(id, contextId, status?.state)
  }

  #setProgress(taskId: string, contextId: string, stateNumber: number | undefined): void {
    const state = stateNumber === undefined ? undefined : (STATES[stateNumber] ?? 'unknown')
    this.progress = { taskId, contextId, state, hasEnded: state === undefined || ENDED.has(state) }
    this.#badge.textContent = state ?? 'message'
    this.#badge.className = `badge console-state-${(state ?? 'message').replaceAll(' ', '-')}`
    const ids = [taskId && `task ${shorten(taskId, 100)}`, contextId && `context ${shorten(contextId, 100)}`]
    this.#ids.textContent = ids.filter(Boolean).join(' · ')
  }

  #showMessage({ messageId, parts }: Message): void {
    if (messageId !== '' && this.#seenMessages.has(messageId)) return
    this.#seenMessages.add(messageId)
    if (this.#messages.childElementCount >= MAX_MESSAGES) this.#markFull()
    else this.#messages.append(new PartList(this.#budget, parts).element)
  }

  #artifact(artifact: Artifact): ShownArtifact | undefined {
    const known = this.#artifacts.get(artifact.artifactId)
    if (known) return known
    if (this.#artifacts.size >= MAX_ARTIFACTS) {
      this.#markFull()
      return undefined
    }
    const shown = new ShownArtifact(artifact, this.#budget)
    this.#artifacts.set(artifact.artifactId, shown)
    this.#answer.append(shown.element)
    return shown
  }

  #markFull(): void {
    if (!this.#isFull) this.#answer.append(renderRest())
    this.#isFull = true
  }
}

/** An artifact of a task, which may arrive in pieces. */
class ShownArtifact {
  readonly element: HTMLElement
  readonly #budget: Budget
  #parts: PartList
  /** What the artifact was replaced with last: a task that is polled repeats its artifacts. */
  #replacedWith: string | undefined

  constructor({ name, description, artifactId }: Artifact, budget: Budget) {
    this.#budget = budget
    this.#parts = new PartList(budget)
    this.element = element(
      'section.console-artifact',
      element('h4', { dir: 'auto' }, `Artifact: ${shorten(name || artifactId, 200)}`),
      description !== '' && element('p.muted', { dir: 'auto' }, shorten(description, 2000)),
      this.#parts.element,
    )
  }

  append(parts: readonly Part[]): void {
    this.#replacedWith = undefined
    this.#parts.append(parts)
  }

  replace(parts: readonly Part[]): void {
    const summary = JSON.stringify(
      parts.map(({ content }) => (content?.$case === 'raw' ? content.value.length : content)),
    )
    if (summary === this.#replacedWith) return
    this.#parts.remove()
    this.#parts = new PartList(this.#budget, parts)
    this.element.append(this.#parts.element)
    this.#replacedWith = summary
  }
}

import type { Artifact, Message, Part, Task } from '@a2a-js/sdk'
import { shorten } from '../../text/index.ts'
import { element } from '../elements/index.ts'
import type { CallEvent } from './agent.ts'
import { type Budget, PartList, renderRest } from './part-list.ts'

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

/** A message and what the agent answers. */
export class Turn {
  readonly #budget: Budget = { left: MAX_TURN_LENGTH }
  readonly #badge = element('span.badge')
  readonly #ids = element('span.muted.console-ids')
  readonly #messages = element('div')
  readonly #about = element('p', this.#badge, ' ', this.#ids)
  readonly #answer = element('div.console-answer', { hidden: '' }, element('h3', 'Agent'), this.#about, this.#messages)
  readonly element: HTMLElement
  readonly #artifacts = new Map<string, ReturnType<typeof showArtifact>>()
  readonly #seenMessages = new Set<string>()
  #isFull = false
  progress: Progress | undefined

  constructor(parts: readonly Part[]) {
    const question = new PartList(this.#budget, parts).element
    const asked = element('div.console-question', element('h3', 'You'), question)
    this.element = element('article.console-turn', asked, this.#answer)
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
    if (this.#messages.childElementCount >= MAX_MESSAGES) this.#markFull()
    else {
      this.#seenMessages.add(messageId)
      this.#messages.append(new PartList(this.#budget, parts).element)
    }
  }

  #artifact(artifact: Artifact): ReturnType<typeof showArtifact> | undefined {
    const known = this.#artifacts.get(artifact.artifactId)
    if (known) return known
    if (this.#artifacts.size >= MAX_ARTIFACTS) return this.#markFull()
    const shown = showArtifact(artifact, this.#budget)
    this.#artifacts.set(artifact.artifactId, shown)
    this.#answer.append(shown.element)
    return shown
  }

  #markFull(): undefined {
    if (!this.#isFull) this.#answer.append(renderRest())
    this.#isFull = true
  }
}

/** Shows an artifact of a task, which may arrive in pieces. */
const showArtifact = ({ name, description, artifactId }: Artifact, budget: Budget) => {
  let shown = new PartList(budget)
  /** What the artifact was replaced with last: a task that is polled repeats its artifacts. */
  let replacedWith: string | undefined
  const heading = element('h4', { dir: 'auto' }, `Artifact: ${shorten(name || artifactId, 200)}`)
  const about = description !== '' && element('p.muted', { dir: 'auto' }, shorten(description, 2000))
  const section = element('section.console-artifact', heading, about, shown.element)
  return {
    element: section,
    append: (parts: readonly Part[]): void => {
      replacedWith = undefined
      shown.append(parts)
    },
    replace: (parts: readonly Part[]): void => {
      const lengths = parts.map(({ content }) => (content?.$case === 'raw' ? content.value.length : content))
      const summary = JSON.stringify(lengths)
      if (summary === replacedWith) return
      shown.remove()
      shown = new PartList(budget, parts)
      section.append(shown.element)
      replacedWith = summary
    },
  }
}

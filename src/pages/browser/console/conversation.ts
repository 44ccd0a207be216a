import type { Artifact, Message, Part } from '@a2a-js/sdk'
import type { CallEvent } from './agent.ts'

const MAX_MESSAGES = 100
const MAX_ARTIFACTS = 100

/** The characters of text and the parts that one list keeps. */
const MAX_TEXT_LENGTH = 256 * 1024
const MAX_PARTS = 200

/** The bytes or characters of all parts of one turn together, and their number. */
const MAX_TURN_LENGTH = 32 * 1024 * 1024
const MAX_TURN_PARTS = 600

/** The time between two changes of the page: a stream can change very often, and a long text is slow to lay out. */
const DRAW_INTERVAL_MS = 60

/** What changes often, and reports that after a moment. */
export class Changing {
  #timer: ReturnType<typeof setTimeout> | undefined
  onChange = (): void => {}

  protected changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.onChange()
    }, DRAW_INTERVAL_MS)
  }
}

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

/** What can be chosen for the next messages. An empty one is the default. */
export type Settings = {
  skillId: string
  format: 'text' | 'data'
  continuation: '' | 'task' | 'context' | 'new'
  /** The index of an endpoint of the card. */
  endpoint: string
  delivery: 'stream' | 'whole' | 'poll'
  /** Through which address of the agent: that in the card, or that of this host. */
  route: 'card' | 'host'
  /** Media types with commas. */
  modes: string
  header: string
}

/** Checks whether a task goes on only when the person does something. */
export const needsPerson = ({ state }: Progress): boolean =>
  state === 'input required' || state === 'authentication required'

/** What the next message can continue, in words, the default first. */
export const continuations = (progress: Progress | undefined): (readonly ['task' | 'context' | 'new', string])[] => {
  if (progress === undefined) return []
  const isOpen = progress.taskId !== '' && !progress.hasEnded
  return [
    ...(isOpen ? [['task', needsPerson(progress) ? 'Reply to the agent' : 'Add to the task'] as const] : []),
    ['context', 'Continue this conversation'],
    ['new', 'Start a new conversation'],
  ]
}

type Budget = { length: number; parts: number }

/** Parts of a message or artifact, to which further ones can be added. A changed part is another object. */
export class PartList {
  readonly parts: Part[] = []
  /** Set if there are more than are kept. */
  isCut = false
  readonly #budget: Budget
  #taken = 0
  #textLength = 0

  constructor(budget: Budget, parts: readonly Part[] = []) {
    this.#budget = budget
    this.append(parts)
  }

  append(parts: readonly Part[]): void {
    for (const part of parts) this.isCut ||= !this.#add(part)
  }

  replace(parts: readonly Part[]): void {
    this.#budget.length += this.#taken
    this.#budget.parts += this.parts.length
    this.parts.length = this.#taken = this.#textLength = 0
    this.isCut = false
    this.append(parts)
  }

  /** Adds a part; text continues the text before it, as in a stream. Returns whether all of it is kept. */
  #add(untrusted: Part): boolean {
    const part = checkPart(untrusted)
    const { content, mediaType } = part
    const length = lengthOf(part)
    const last = this.parts.at(-1)
    const isText = content?.$case === 'text'
    const text = isText ? content.value.slice(0, MAX_TEXT_LENGTH - this.#textLength) : ''
    const before = isText && last?.content?.$case === 'text' && last.mediaType === mediaType && last.content.value
    const isNew = before === false
    if (isNew && (this.parts.length >= MAX_PARTS || this.#budget.parts === 0)) return false
    if (length > this.#budget.length) return false
    this.#budget.length -= length
    this.#budget.parts -= isNew ? 1 : 0
    this.#taken += length
    this.#textLength += text.length
    if (!isNew) this.parts.pop()
    this.parts.push(isText ? { ...part, content: { $case: 'text', value: (before || '') + text } } : part)
    return !isText || text.length === content.value.length
  }
}

/**
 * Returns a text of what should be one. In 0.3, the SDK passes on whatever an agent sends, which could be elements; in
 * 1.0, it makes `[object Object]` of objects.
 */
export const textOf = (value: unknown): string => {
  const text = typeof value === 'object' && value ? JSON.stringify(value) : `${value ?? ''}`
  return /^\[object Object\](?:,\[object Object\])*$/.test(text) ? '(not a text: see the raw exchange)' : text
}

const checkPart = ({ content, mediaType, filename, metadata }: Part): Part => {
  const isText = content?.$case === 'text' || content?.$case === 'url'
  const checked = isText ? { ...content, value: textOf(content.value) } : content
  return { content: checked, mediaType: textOf(mediaType), filename: textOf(filename), metadata }
}

const lengthOf = ({ content }: Part): number => {
  if (content?.$case === 'data') return JSON.stringify(content.value)?.length ?? 0
  return content?.value.length ?? 0
}

/** A list of parts with what names it: an artifact. */
type NamedParts = { name: string; description: string; list: PartList; replacedWith?: string | undefined }

/** A message and what the agent responds. */
export class Turn extends Changing {
  static #count = 0
  readonly number = ++Turn.#count
  readonly #budget: Budget = { length: MAX_TURN_LENGTH, parts: MAX_TURN_PARTS }
  readonly #seenMessages = new Set<string>()
  readonly question: PartList
  readonly messages: PartList[] = []
  readonly artifacts = new Map<string, NamedParts>()
  isCut = false
  progress: Progress | undefined

  constructor(parts: readonly Part[]) {
    super()
    this.question = new PartList(this.#budget, parts)
  }

  /** Takes an event of the response. */
  apply(event: CallEvent): void {
    this.changed()
    if (event.$case === 'message') {
      const { taskId, contextId } = event.value
      this.#addMessage(event.value)
      this.#setProgress(taskId, contextId, undefined)
    } else if (event.$case === 'task') {
      const { id, contextId, status, artifacts, history } = event.value
      for (const message of history) if (message.role === ROLE_AGENT) this.#addMessage(message)
      if (status?.message) this.#addMessage(status.message)
      for (const artifact of artifacts) this.#addArtifact(artifact, false)
      this.#setProgress(id, contextId, status?.state)
    } else if (event.$case === 'statusUpdate') {
      const { taskId, contextId, status } = event.value
      if (status?.message) this.#addMessage(status.message)
      this.#setProgress(taskId, contextId, status?.state)
    } else {
      const { artifact, append, taskId, contextId } = event.value
      if (!this.progress) this.#setProgress(taskId, contextId, STATE_UNKNOWN)
      if (artifact) this.#addArtifact(artifact, append)
    }
  }

  #setProgress(taskId: string, contextId: string, stateNumber: number | undefined): void {
    const state = stateNumber === undefined ? undefined : (STATES.at(Number(stateNumber)) ?? 'unknown')
    this.progress = { taskId, contextId, state, hasEnded: state === undefined || ENDED.has(state) }
  }

  #addMessage({ messageId, parts }: Message): void {
    if (messageId !== '' && this.#seenMessages.has(messageId)) return
    this.isCut ||= this.messages.length >= MAX_MESSAGES
    if (this.messages.length >= MAX_MESSAGES) return
    this.#seenMessages.add(messageId)
    this.messages.push(new PartList(this.#budget, parts))
  }

  /** Adds an artifact, or what has arrived of it. A task that is polled repeats its artifacts. */
  #addArtifact({ artifactId, name, description, parts }: Artifact, append: boolean): void {
    let known = this.artifacts.get(artifactId)
    if (!known) {
      this.isCut ||= this.artifacts.size >= MAX_ARTIFACTS
      if (this.artifacts.size >= MAX_ARTIFACTS) return
      known = { name: textOf(name), description: textOf(description), list: new PartList(this.#budget) }
      this.artifacts.set(artifactId, known)
    }
    const lengths = parts.map(({ content }) => (content?.$case === 'raw' ? content.value.length : content))
    const summary = append ? undefined : JSON.stringify(lengths)
    if (append) known.list.append(parts)
    else if (summary !== known.replacedWith) known.list.replace(parts)
    known.replacedWith = summary
  }
}

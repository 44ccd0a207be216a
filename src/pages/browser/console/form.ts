import type { Part } from '@a2a-js/sdk'
import type { AgentCard, AgentSkill } from '../../../card/model/index.ts'
import { shorten } from '../../text/index.ts'
import { element } from '../elements/index.ts'
import { callableEndpoints, createPart, type Draft, type Endpoint } from './agent.ts'
import { toBuffer } from './buffer.ts'
import { button, checkbox, field, options } from './dom.ts'
import type { Fix } from './refusal.ts'

/** What a card offers can be much; the form offers so many skills, modes and examples of it. */
const MAX_SKILLS = 200
const MAX_MODES = 24
const MAX_EXAMPLES = 4

/** A file is part of the message, in memory. Hosts and agents accept less. */
const MAX_FILE_BYTES = 8 * 1024 * 1024

/** What the form tells the console. */
type FormEvents = { onSubmit: (action: 'send' | 'stream') => void }

/** The message that a person writes, and how it is sent. */
export class MessageForm {
  readonly element: HTMLFormElement
  readonly #text = element('textarea', { rows: '3', dir: 'auto' })
  readonly #data = element('textarea', { rows: '3', dir: 'ltr', spellcheck: 'false' })
  readonly #dataDetails: HTMLDetailsElement
  readonly #file = element('input', { type: 'file' })
  readonly #skill = element('select')
  readonly #examples = element('p', { class: 'console-examples' })
  readonly #binding = element('select')
  readonly #version = element('select')
  readonly #modes = element('div', { class: 'console-modes' })
  readonly #otherModes = element('input', {
    type: 'text',
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: 'image/png, text/*',
  })
  readonly #poll: HTMLInputElement
  readonly #sending: HTMLDetailsElement
  readonly #buttons: HTMLButtonElement[]
  #skills: readonly AgentSkill[] = []
  #endpoints: readonly Endpoint[] = []

  constructor(card: AgentCard, { onSubmit }: FormEvents) {
    const [pollLabel, poll] = checkbox('Return at once, then ask for the task until it ends')
    this.#poll = poll
    const send = element('button', { type: 'submit', class: 'primary' }, 'Send')
    const stream = button('Send and stream', () => onSubmit('stream'))
    this.#buttons = [send, stream]
    this.#dataDetails = element('details', {}, element('summary', {}, 'Add JSON data'), field('JSON data', this.#data))
    this.#sending = element(
      'details',
      {},
      element('summary', {}, 'How it is sent'),
      element(
        'div',
        { class: 'console-grid' },
        field('Skill', this.#skill),
        field('Binding', this.#binding),
        field('Protocol version', this.#version),
      ),
      element(
        'fieldset',
        {},
        element('legend', {}, 'Accepted output modes'),
        element('p', { class: 'muted console-hint' }, 'Without any, the agent chooses.'),
        this.#modes,
        field('Other modes', this.#otherModes),
      ),
      pollLabel,
    )
    this.element = element(
      'form',
      { class: 'console-form', novalidate: '' },
      field('Message', this.#text, 'Ctrl+Enter sends it.'),
      this.#examples,
      this.#dataDetails,
      field('File', this.#file),
      this.#sending,
      element('p', { class: 'console-actions' }, send, stream),
    )
    this.element.addEventListener('submit', event => {
      event.preventDefault()
      onSubmit('send')
    })
    this.#text.addEventListener('keydown', event => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.element.requestSubmit()
    })
    for (const control of [this.#text, this.#data, this.#file])
      control.addEventListener('input', () => control.setCustomValidity(''))
    this.#skill.addEventListener('change', () => this.#showExamples())
    this.#binding.addEventListener('change', () => this.#showVersions())
    this.setCard(card)
  }

  /** Offers what a card declares. */
  setCard(card: AgentCard): void {
    this.#skills = card.skills.slice(0, MAX_SKILLS)
    this.#skill.replaceChildren(
      ...options([['', 'Any skill'], ...this.#skills.map(({ id, name }) => [id, shorten(name, 100)] as const)]),
    )
    this.#showExamples()
    this.#endpoints = callableEndpoints(card)
    const bindings = [...new Set(this.#endpoints.map(({ binding }) => binding))]
    this.#binding.replaceChildren(
      ...options(bindings.map(binding => [binding, binding === 'JSONRPC' ? 'JSON-RPC' : binding] as const)),
    )
    this.#showVersions()
    const modes = new Set([card.defaultOutputModes, ...this.#skills.map(({ outputModes }) => outputModes ?? [])].flat())
    this.#modes.replaceChildren(
      ...[...modes].slice(0, MAX_MODES).map(value => checkbox(shorten(value, 100), { value })[0]),
    )
  }

  /** The endpoint that is chosen. Undefined if the card has none that a browser can call. */
  get endpoint(): Endpoint | undefined {
    return this.#endpoints.find(
      ({ binding, version }) => binding === this.#binding.value && version === this.#version.value,
    )
  }

  /** Whether a sent message returns before its task ends. */
  get returnsAtOnce(): boolean {
    return this.#poll.checked
  }

  /** Reads the message. Undefined if it is not complete: then the field that is wrong says so. */
  async read(): Promise<Omit<Draft, 'taskId' | 'contextId'> | undefined> {
    const parts: Part[] = []
    if (this.#text.value.trim() !== '') parts.push(createPart({ $case: 'text', value: this.#text.value }, 'text/plain'))
    if (this.#data.value.trim() !== '') {
      const data = parseJson(this.#data.value)
      if ('error' in data) return this.#refuse(this.#data, `This is not JSON: ${data.error}`)
      parts.push(createPart({ $case: 'data', value: data.value }, 'application/json'))
    }
    const [file] = this.#file.files ?? []
    if (file && file.size > MAX_FILE_BYTES)
      return this.#refuse(this.#file, 'The file is larger than 8 MiB, which is as much as this page sends.')
    if (file) {
      const value = toBuffer(new Uint8Array(await file.arrayBuffer()))
      parts.push(createPart({ $case: 'raw', value }, file.type || 'application/octet-stream', file.name))
    }
    if (parts.length === 0) return this.#refuse(this.#text, 'Write a message, or add data or a file.')
    const checked = [...this.#modes.querySelectorAll('input')].filter(input => input.checked).map(({ value }) => value)
    const other = this.#otherModes.value
      .split(',')
      .map(mode => mode.trim())
      .filter(Boolean)
    return {
      parts,
      ...(this.#skill.value !== '' && { skillId: this.#skill.value }),
      acceptedOutputModes: [...new Set([...checked, ...other])],
      returnImmediately: this.#poll.checked,
    }
  }

  /** Empties the fields of the message, which was sent. */
  clearMessage(): void {
    this.#text.value = ''
    this.#data.value = ''
    this.#file.value = ''
  }

  /** Changes the form as a fix says. */
  apply(fix: Fix): void {
    if (fix.kind === 'accept') {
      this.#otherModes.value = ''
      for (const input of this.#modes.querySelectorAll('input')) input.checked = fix.modes.includes(input.value)
      const offered = [...this.#modes.querySelectorAll('input')].map(({ value }) => value)
      this.#otherModes.value = fix.modes.filter(mode => !offered.includes(mode)).join(', ')
    } else if (fix.kind === 'drop-input') {
      const [file] = this.#file.files ?? []
      if (file && fix.mediaTypes.includes(file.type || 'application/octet-stream')) this.#file.value = ''
      if (fix.mediaTypes.includes('application/json')) this.#data.value = ''
      if (fix.mediaTypes.includes('text/plain')) this.#text.value = ''
    } else if (fix.kind === 'use-version') {
      const endpoint = this.#endpoints.find(({ version }) => version === fix.version)
      if (endpoint) this.#binding.value = endpoint.binding
      this.#showVersions()
      this.#version.value = fix.version
    }
  }

  /** Adds a choice of how messages are sent. */
  addOption(option: HTMLElement): void {
    this.#sending.append(option)
  }

  /** Makes the next message answer the agent's question, or not. */
  setReplying(isReplying: boolean): void {
    const [label] = this.#text.labels ?? []
    if (label) label.textContent = isReplying ? 'Your reply' : 'Message'
  }

  setBusy(isBusy: boolean): void {
    for (const each of this.#buttons) each.disabled = isBusy
  }

  focus(): void {
    this.#text.focus()
  }

  #refuse(control: HTMLTextAreaElement | HTMLInputElement, message: string): undefined {
    if (control === this.#data) this.#dataDetails.open = true
    control.setCustomValidity(message)
    control.reportValidity()
    return undefined
  }

  #showExamples(): void {
    const chosen = this.#skills.filter(({ id }) => this.#skill.value === '' || id === this.#skill.value)
    const examples = [...new Set(chosen.flatMap(({ examples: list }) => list ?? []))].slice(0, MAX_EXAMPLES)
    const fill = (example: string) => () => {
      this.#text.value = example
      this.#text.focus()
    }
    const buttons = examples.map(example =>
      button(shorten(example, 60), fill(example), { class: 'console-small', dir: 'auto' }),
    )
    this.#examples.replaceChildren(...(examples.length > 0 ? ['Examples: ', ...buttons] : []))
  }

  #showVersions(): void {
    const versions = this.#endpoints
      .filter(({ binding }) => binding === this.#binding.value)
      .map(({ version }) => version)
    const chosen = this.#version.value
    this.#version.replaceChildren(
      ...options([...new Set(versions)].map(version => [version, `A2A ${version}`] as const)),
    )
    if (versions.some(version => version === chosen)) this.#version.value = chosen
  }
}

const parseJson = (text: string): { value: unknown } | { error: string } => {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { error: error instanceof Error ? error.message : '' }
  }
}

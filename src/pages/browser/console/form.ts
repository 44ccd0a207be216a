import type { Part } from '@a2a-js/sdk'
import type { AgentCard, AgentSkill } from '../../../card/model/index.ts'
import { parseUrl } from '../../../http/shared.ts'
import { shorten } from '../../text/index.ts'
import { type Attributes, button, details, element, field, hint, options } from '../elements/index.ts'
import { callableEndpoints, type Draft, type Endpoint } from './agent.ts'
import { toBuffer } from './buffer.ts'
import type { Credentials } from './recorder.ts'
import type { Fix } from './refusal.ts'

/** The most skills, modes, examples, and headers or origins of a card that the form offers. */
const MAX_SKILLS = 200
const MAX_MODES = 24
const MAX_EXAMPLES = 4
const MAX_HEADERS = 20

/** A file is part of the message, in memory. Hosts and agents accept less. */
const MAX_FILE_BYTES = 8 * 1024 * 1024

const BINARY_TYPE = 'application/octet-stream'

/** Creates a box with its label beside it. */
export const checkbox = (label: string, attributes: Attributes = {}): [HTMLElement, HTMLInputElement] => {
  const input = element('input', { type: 'checkbox', ...attributes })
  return [element('label.console-check', input, element('span', { dir: 'auto' }, label)), input]
}

/** The message that a person writes, and how it is sent. */
export class MessageForm {
  readonly #text = element('textarea', { rows: '3', dir: 'auto' })
  readonly #data = element('textarea', { rows: '3', dir: 'ltr', spellcheck: 'false' })
  readonly #dataDetails = details('Add JSON data', field('JSON data', this.#data))
  readonly #file = element('input', { type: 'file' })
  readonly #skill = element('select')
  readonly #examples = element('p.console-examples')
  readonly #binding = element('select')
  readonly #version = element('select')
  readonly #modes = element('div.console-modes')
  readonly #otherModes = element('input', {
    ...{ type: 'text', spellcheck: 'false', autocomplete: 'off', placeholder: 'image/png, text/*' },
  })
  readonly #poll = checkbox('Return at once, then ask for the task until it ends')
  readonly #sending = details(
    'How it is sent',
    element(
      'div.console-grid',
      field('Skill', this.#skill),
      field('Binding', this.#binding),
      field('Protocol version', this.#version),
    ),
    element(
      'fieldset',
      element('legend', 'Accepted output modes'),
      hint('Without any, the agent chooses.'),
      this.#modes,
      field('Other modes', this.#otherModes),
    ),
    this.#poll[0],
  )
  readonly #buttons: HTMLButtonElement[]
  readonly element: HTMLFormElement
  #skills: readonly AgentSkill[] = []
  #endpoints: readonly Endpoint[] = []

  constructor(card: AgentCard, onSubmit: (action: 'send' | 'stream') => void) {
    const send = element('button.primary', { type: 'submit' }, 'Send')
    this.#buttons = [send, button('Send and stream', () => onSubmit('stream'))]
    this.element = element(
      'form.console-form',
      { novalidate: '' },
      field('Message', this.#text, 'Ctrl+Enter sends it.'),
      this.#examples,
      this.#dataDetails,
      field('File', this.#file),
      this.#sending,
      element('p.console-actions', this.#buttons),
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
    const skills = this.#skills.map(({ id, name }) => [id, shorten(name, 100)] as const)
    this.#skill.replaceChildren(...options([['', 'Any skill'], ...skills]))
    this.#showExamples()
    this.#endpoints = callableEndpoints(card)
    const bindings = new Set(this.#endpoints.map(({ binding }) => binding))
    this.#binding.replaceChildren(
      ...options([...bindings].map(binding => [binding, binding === 'JSONRPC' ? 'JSON-RPC' : binding])),
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

  get #modeBoxes(): HTMLInputElement[] {
    return [...this.#modes.querySelectorAll('input')]
  }

  /** Reads the message. Undefined if it is not complete: then the invalid field shows why. */
  async read(): Promise<Omit<Draft, 'taskId' | 'contextId'> | undefined> {
    const parts: Part[] = []
    const add = (content: NonNullable<Part['content']>, mediaType: string, filename = ''): void =>
      void parts.push({ content, mediaType, filename, metadata: undefined })
    const text = this.#text.value
    if (text.trim() !== '') add({ $case: 'text', value: text }, 'text/plain')
    try {
      if (this.#data.value.trim() !== '')
        add({ $case: 'data', value: JSON.parse(this.#data.value) }, 'application/json')
    } catch (error) {
      this.#dataDetails.open = true
      return this.#refuse(this.#data, `This is not JSON: ${error instanceof Error ? error.message : ''}`)
    }
    const [file] = this.#file.files ?? []
    if (file && file.size > MAX_FILE_BYTES)
      return this.#refuse(this.#file, 'The file is larger than 8 MiB, which is as much as this page sends.')
    if (file) {
      const value = toBuffer(new Uint8Array(await file.arrayBuffer()))
      add({ $case: 'raw', value }, file.type || BINARY_TYPE, file.name)
    }
    if (parts.length === 0) return this.#refuse(this.#text, 'Write a message, or add data or a file.')
    const modes = this.#modeBoxes.filter(({ checked }) => checked).map(({ value }) => value)
    const others = this.#otherModes.value.split(',').map(mode => mode.trim())
    return {
      parts,
      ...(this.#skill.value !== '' && { skillId: this.#skill.value }),
      acceptedOutputModes: [...new Set([...modes, ...others.filter(mode => mode !== '')])],
      returnImmediately: this.#poll[1].checked,
    }
  }

  /** Empties the fields of the message, which was sent. */
  clearMessage(): void {
    for (const control of [this.#text, this.#data, this.#file]) control.value = ''
  }

  /** Changes the form as a fix requires. */
  apply(fix: Fix): void {
    if (fix.kind === 'accept') {
      const boxes = this.#modeBoxes
      for (const box of boxes) box.checked = fix.modes.includes(box.value)
      this.#otherModes.value = fix.modes.filter(mode => !boxes.some(({ value }) => value === mode)).join(', ')
    } else if (fix.kind === 'drop-input') {
      const [file] = this.#file.files ?? []
      if (file && fix.mediaTypes.includes(file.type || BINARY_TYPE)) this.#file.value = ''
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
    const chosen = this.#version.value
    const offered = this.#endpoints.filter(({ binding }) => binding === this.#binding.value)
    const versions = [...new Set<string>(offered.map(({ version }) => version))]
    this.#version.replaceChildren(...options(versions.map(version => [version, `A2A ${version}`])))
    if (versions.includes(chosen)) this.#version.value = chosen
  }
}

/** The fields for a token. It is in the memory of the page only: the field has no name, and no form contains it. */
export class CredentialFields {
  readonly #token = element('input', { type: 'password', autocomplete: 'off', spellcheck: 'false' })
  readonly #header = element('select')
  readonly element: HTMLElement

  constructor(card: AgentCard, hostOrigins: readonly string[]) {
    const origins = new Set(callableEndpoints(card).map(({ url }) => parseUrl(url)?.origin ?? ''))
    const others = [...origins].filter(origin => !hostOrigins.includes(origin)).slice(0, MAX_HEADERS)
    const receivers =
      others.length === 0
        ? 'this host'
        : `${others.join(' or ')}, the agent's own address, unless calls go through this host. Tokens that this host ` +
          'issued never go there. Its ADMIN_TOKEN looks like any other: do not enter it here'
    const explanation = `It is only in this page's memory, and gone when you leave. Each call sends it to ${receivers}.`
    const names = apiKeyHeaders(card)
    this.#header.append(
      ...options([['Authorization', 'Authorization: Bearer'], ...names.map(name => [name, name] as const)]),
    )
    this.element = element(
      'fieldset.console-token',
      element('legend', 'Authentication'),
      field('Token', this.#token, explanation),
      names.length > 0 && field('Send as', this.#header),
    )
  }

  read(): Credentials {
    // Other characters cannot stand in a header. A token is often copied with the scheme before it.
    const token = this.#token.value.replace(/^\s*bearer\s+/i, '').replace(/[^\x21-\x7e]/g, '')
    if (token === '') return undefined
    const header = this.#header.value
    return { header, prefix: header === 'Authorization' ? 'Bearer ' : '', token }
  }

  focus(): void {
    this.#token.focus()
    this.#token.select()
  }
}

/** Returns the headers in which a card takes API keys, except those that a page must not set or that calls need. */
const apiKeyHeaders = ({ securitySchemes = {} }: AgentCard): string[] => {
  const names = Object.values(securitySchemes)
    .map(({ apiKeySecurityScheme: scheme }) => (scheme?.location === 'header' ? scheme.name : ''))
    .filter(name => /^[\w-]{1,100}$/.test(name) && !/^(?:authorization|content-type|accept|a2a-|x-a2a-)/i.test(name))
  return [...new Set(names)].slice(0, MAX_HEADERS)
}

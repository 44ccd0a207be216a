import type { Part } from '@a2a-js/sdk'
import type { AgentCard, AgentSkill, CallTarget } from '../../../card/model/index.ts'
import { parseUrl } from '../../../http/shared.ts'
import { shorten } from '../../text/index.ts'
import {
  type Attributes,
  button,
  details,
  element,
  field,
  handleSubmit,
  hint,
  options,
  PLAIN_INPUT,
  replaceContent,
} from '../elements/index.ts'
import { callableEndpoints, type Draft } from './agent.ts'
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

const checkbox = (label: string, attributes: Attributes = {}): [HTMLElement, HTMLInputElement] => {
  const input = element('input', { type: 'checkbox', ...attributes })
  return [element('label.console-check', input, element('span', { dir: 'auto' }, label)), input]
}

/** Creates the form of a message and of how it is sent. `hostUrl` is where this host forwards calls. */
export const createMessageForm = (
  card: AgentCard,
  hostUrl: string | undefined,
  onSubmit: (action: 'send' | 'stream') => void,
) => {
  const text = element('textarea', { rows: '3', dir: 'auto' })
  const data = element('textarea', { rows: '3', dir: 'ltr', spellcheck: 'false' })
  const dataDetails = details('Add JSON data', field('JSON data', data))
  const file = element('input', { type: 'file' })
  const skill = element('select')
  const examples = element('p.console-examples')
  const binding = element('select')
  const version = element('select')
  const modes = element('div.console-modes')
  const otherModes = element('input', { type: 'text', placeholder: 'image/png, text/*', ...PLAIN_INPUT })
  const [pollLabel, poll] = checkbox('Return at once, then ask for the task until it ends')
  const [viaHostLabel, viaHost] = checkbox('Send through this host, which checks the call against the card')
  const protocol = [field('Skill', skill), field('Binding', binding), field('Protocol version', version)]
  const legend = element('legend', 'Accepted output modes')
  const mayChoose = hint('Without any, the agent chooses.')
  const accepted = element('fieldset', legend, mayChoose, modes, field('Other modes', otherModes))
  const buttons = [
    button('Send', undefined, { type: 'submit', class: 'primary' }),
    button('Send and stream', () => onSubmit('stream')),
  ]
  const form = element(
    'form.console-form',
    { novalidate: '' },
    field('Message', text, 'Ctrl+Enter sends it.'),
    examples,
    dataDetails,
    field('File', file),
    details('How it is sent', element('div.console-grid', protocol), accepted, pollLabel, hostUrl && viaHostLabel),
    element('p.console-actions', buttons),
  )
  let skills: readonly AgentSkill[] = []
  let endpoints: readonly CallTarget[] = []
  const modeBoxes = () => [...modes.querySelectorAll('input')]

  const showExamples = (): void => {
    const chosen = skills.filter(({ id }) => skill.value === '' || id === skill.value)
    const texts = [...new Set(chosen.flatMap(each => each.examples ?? []))].slice(0, MAX_EXAMPLES)
    const fill = (example: string) => () => {
      text.value = example
      text.focus()
    }
    const fillers = texts.map(example =>
      button(shorten(example, 60), fill(example), { class: 'console-small', dir: 'auto' }),
    )
    replaceContent(examples, texts.length > 0 && ['Examples: ', ...fillers])
  }

  const showVersions = (chosen = version.value): void => {
    const offered = endpoints.filter(each => each.binding === binding.value)
    const versions = [...new Set<string>(offered.map(each => each.version))]
    replaceContent(version, options(versions.map(each => [each, `A2A ${each}`])))
    if (versions.includes(chosen)) version.value = chosen
  }

  const setCard = (card: AgentCard): void => {
    skills = card.skills.slice(0, MAX_SKILLS)
    const names = skills.map(({ id, name }) => [id, shorten(name, 100)] as const)
    replaceContent(skill, options([['', 'Any skill'], ...names]))
    showExamples()
    endpoints = callableEndpoints(card)
    const bindings = [...new Set(endpoints.map(each => each.binding))]
    replaceContent(binding, options(bindings.map(each => [each, each === 'JSONRPC' ? 'JSON-RPC' : each])))
    showVersions()
    const offered = new Set([card.defaultOutputModes, ...skills.map(({ outputModes }) => outputModes ?? [])].flat())
    const boxes = [...offered].slice(0, MAX_MODES).map(value => checkbox(shorten(value, 100), { value })[0])
    replaceContent(modes, boxes)
  }

  const refuse = (control: HTMLTextAreaElement | HTMLInputElement, message: string): undefined => {
    control.setCustomValidity(message)
    control.reportValidity()
    return undefined
  }

  /** Reads the message. Undefined if it is not complete: then the invalid field shows why. */
  const read = async (): Promise<Omit<Draft, 'taskId' | 'contextId'> | undefined> => {
    const parts: Part[] = []
    const add = (content: NonNullable<Part['content']>, mediaType: string, filename = ''): void =>
      void parts.push({ content, mediaType, filename, metadata: undefined })
    if (text.value.trim() !== '') add({ $case: 'text', value: text.value }, 'text/plain')
    try {
      if (data.value.trim() !== '') add({ $case: 'data', value: JSON.parse(data.value) }, 'application/json')
    } catch (error) {
      dataDetails.open = true
      return refuse(data, `This is not JSON: ${error instanceof Error ? error.message : ''}`)
    }
    const [chosen] = file.files ?? []
    if (chosen && chosen.size > MAX_FILE_BYTES)
      return refuse(file, 'The file is larger than 8 MiB, which is as much as this page sends.')
    if (chosen) {
      const value = toBuffer(new Uint8Array(await chosen.arrayBuffer()))
      add({ $case: 'raw', value }, chosen.type || BINARY_TYPE, chosen.name)
    }
    if (parts.length === 0) return refuse(text, 'Write a message, or add data or a file.')
    const checked = modeBoxes().filter(box => box.checked)
    const others = otherModes.value.split(',').map(mode => mode.trim())
    return {
      parts,
      ...(skill.value !== '' && { skillId: skill.value }),
      acceptedOutputModes: [...new Set([...checked.map(({ value }) => value), ...others.filter(mode => mode !== '')])],
      returnImmediately: poll.checked,
    }
  }

  const apply = (fix: Fix): void => {
    if (fix.kind === 'send-through-host') viaHost.checked = true
    else if (fix.kind === 'accept') {
      for (const box of modeBoxes()) box.checked = fix.modes.includes(box.value)
      const offered = modeBoxes().map(({ value }) => value)
      otherModes.value = fix.modes.filter(mode => !offered.includes(mode)).join(', ')
    } else if (fix.kind === 'drop-input') {
      const [chosen] = file.files ?? []
      if (chosen && fix.mediaTypes.includes(chosen.type || BINARY_TYPE)) file.value = ''
      if (fix.mediaTypes.includes('application/json')) data.value = ''
      if (fix.mediaTypes.includes('text/plain')) text.value = ''
    } else if (fix.kind === 'use-version') {
      const endpoint = endpoints.find(each => each.version === fix.version)
      if (endpoint) binding.value = endpoint.binding
      showVersions(fix.version)
    }
  }

  handleSubmit(form, () => onSubmit('send'))
  text.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
  for (const control of [text, data, file]) control.addEventListener('input', () => control.setCustomValidity(''))
  skill.addEventListener('change', showExamples)
  binding.addEventListener('change', () => showVersions())
  setCard(card)
  return {
    ...{ element: form, setCard, read, apply },
    /** Returns the endpoint that is chosen. Undefined if the card has none that a browser can call. */
    endpoint: (): CallTarget | undefined => {
      const endpoint = endpoints.find(each => each.binding === binding.value && each.version === version.value)
      return endpoint && hostUrl !== undefined && viaHost.checked ? { ...endpoint, url: hostUrl, tenant: '' } : endpoint
    },
    /** Checks whether this host could forward calls that go to the agent now. */
    canUseHost: () => hostUrl !== undefined && !viaHost.checked,
    clearMessage: (): void => {
      for (const control of [text, data, file]) control.value = ''
    },
    /** Makes the next message answer the agent's question, or not. */
    setReplying: (isReplying: boolean): void => {
      const [label] = text.labels ?? []
      if (label) label.textContent = isReplying ? 'Your reply' : 'Message'
    },
    setBusy: (isBusy: boolean): void => {
      for (const each of buttons) each.disabled = isBusy
    },
    focus: () => text.focus(),
  }
}

/** Creates the fields for a token. Only the page's memory has it: the field has no name, and no form contains it. */
export const createCredentialFields = (card: AgentCard, hostOrigins: readonly string[]) => {
  const token = element('input', { type: 'password', autocomplete: 'off', spellcheck: 'false' })
  const names = ['Authorization', ...apiKeyHeaders(card)]
  const header = element('select', options(names.map((name, index) => [name, index === 0 ? `${name}: Bearer` : name])))
  const origins = new Set(callableEndpoints(card).map(({ url }) => parseUrl(url)?.origin ?? ''))
  const others = [...origins].filter(origin => !hostOrigins.includes(origin)).slice(0, MAX_HEADERS)
  const receivers =
    others.length === 0
      ? 'this host'
      : `${others.join(' or ')}, the agent's own address, unless calls go through this host. Tokens that this host ` +
        'issued never go there. Its ADMIN_TOKEN looks like any other: do not enter it here'
  const explanation = `It is only in this page's memory, and gone when you leave. Each call sends it to ${receivers}.`
  return {
    element: element(
      'fieldset.console-token',
      element('legend', 'Authentication'),
      field('Token', token, explanation),
      names.length > 1 && field('Send as', header),
    ),
    read: (): Credentials => {
      // Other characters cannot stand in a header. A token is often copied with the scheme before it.
      const text = token.value.replace(/^\s*bearer\s+/i, '').replace(/[^\x21-\x7e]/g, '')
      const prefix = header.value === 'Authorization' ? 'Bearer ' : ''
      return text === '' ? undefined : { header: header.value, prefix, token: text }
    },
    focus: (): void => {
      token.focus()
      token.select()
    },
  }
}

/** Returns the headers in which a card takes API keys, except those that a page must not set or that calls need. */
const apiKeyHeaders = ({ securitySchemes = {} }: AgentCard): string[] => {
  const names = Object.values(securitySchemes)
    .map(({ apiKeySecurityScheme: scheme }) => (scheme?.location === 'header' ? scheme.name : ''))
    .filter(name => /^[\w-]{1,100}$/.test(name) && !/^(?:authorization|content-type|accept|a2a-|x-a2a-)/i.test(name))
  return [...new Set(names)].slice(0, MAX_HEADERS)
}

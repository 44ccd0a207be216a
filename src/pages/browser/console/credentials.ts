import type { AgentCard } from '../../../card/model/index.ts'
import { parseUrl } from '../../../http/shared.ts'
import { element } from '../elements/index.ts'
import { callableEndpoints } from './agent.ts'
import { field, options } from './dom.ts'
import type { Credentials } from './recorder.ts'

/** The most header names and origins of a card that are offered. */
const MAX_HEADERS = 20

/** The fields for a token. It is in the memory of the page only: the field has no name, and no form contains it. */
export class CredentialFields {
  readonly element = element('fieldset', { class: 'console-token' }, element('legend', {}, 'Authentication'))
  readonly #token = element('input', { type: 'password', autocomplete: 'off', spellcheck: 'false' })
  readonly #header: HTMLSelectElement

  constructor(card: AgentCard, hostOrigins: readonly string[]) {
    const origins = new Set(callableEndpoints(card).map(({ url }) => parseUrl(url)?.origin ?? ''))
    const others = [...origins].filter(origin => !hostOrigins.includes(origin)).slice(0, MAX_HEADERS)
    const receivers =
      others.length === 0
        ? 'this host'
        : `${others.join(' or ')}, the agent's own address, unless calls go through this host. Tokens that this host issued never go there. Its ADMIN_TOKEN looks like any other: do not enter it here`
    const names = apiKeyHeaders(card)
    this.#header = element(
      'select',
      {},
      ...options([['Authorization', 'Authorization: Bearer'], ...names.map(name => [name, name] as const)]),
    )
    this.element.append(
      field(
        'Token',
        this.#token,
        `It is only in the memory of this page, and gone when you leave. Each call sends it to ${receivers}.`,
      ),
      ...(names.length > 0 ? [field('Send as', this.#header)] : []),
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

/** Returns the headers in which a card takes API keys, except those that a page must not set or that calls need for themselves. */
const apiKeyHeaders = ({ securitySchemes = {} }: AgentCard): string[] => {
  const names = Object.values(securitySchemes)
    .map(({ apiKeySecurityScheme: scheme }) => (scheme?.location === 'header' ? scheme.name : ''))
    .filter(name => /^[\w-]{1,100}$/.test(name) && !/^(?:authorization|content-type|accept|a2a-|x-a2a-)/i.test(name))
  return [...new Set(names)].slice(0, MAX_HEADERS)
}

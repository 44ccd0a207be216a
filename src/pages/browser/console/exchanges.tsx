import { parseJson } from '../../../json/index.ts'
import { Hint, plural, shorten } from '../../components/index.ts'
import { Changing } from './conversation.ts'
import { LazyFold, RawText, useChanges } from './parts.tsx'
import type { Exchange } from './recorder.ts'

const MAX_EXCHANGES = 20

const MAX_REQUEST_LENGTH = 64 * 1024

/** The exchanges with an agent, the newest first. */
export class ExchangeLog extends Changing {
  readonly exchanges: { exchange: Exchange; number: number }[] = []
  #count = 0

  /** Takes an exchange, or what changed of it. */
  update(exchange: Exchange): void {
    if (!this.exchanges.some(known => known.exchange === exchange)) {
      this.#count += 1
      this.exchanges.unshift({ exchange, number: this.#count })
      this.exchanges.length = Math.min(this.exchanges.length, MAX_EXCHANGES)
    }
    this.changed()
  }
}

/** The raw exchange: requests and responses as they were sent. */
export const RawExchange = ({ log }: { log: ExchangeLog }) => {
  useChanges(log)
  const { exchanges } = log
  if (exchanges.length === 0) return null
  const list = () => [
    <Hint>
      {exchanges.length < MAX_EXCHANGES ? 'The newest is first.' : `The last ${MAX_EXCHANGES}, the newest first.`}{' '}
      Credentials are hidden.
    </Hint>,
    exchanges.map(({ exchange, number }, index) => (
      <LazyFold
        key={number}
        class="console-exchange"
        title={titleOf(exchange, number)}
        isOpen={index === 0}
        content={() => <ExchangeTexts exchange={exchange} number={number} />}
      />
    )),
  ]
  return <LazyFold class="console-exchanges" title="Raw exchange" content={list} />
}

const titleOf = ({ method, url, status, failure }: Exchange, number: number): string =>
  `${number}. ${method} ${shorten(new URL(url).pathname, 100)} – ${status ?? failure ?? 'waiting'}`

const ExchangeTexts = ({ exchange, number }: { exchange: Exchange; number: number }) => {
  const { method, url, requestHeaders, requestBody } = exchange
  const body = shorten(indent(requestBody), MAX_REQUEST_LENGTH)
  const request = [`${method} ${url}`, ...headerLines(requestHeaders), '', body].join('\n')
  return (
    <>
      <RawText label={`Request ${number}`} text={request} />
      <RawText label={`Response ${number}`} text={responseText(exchange)} />
    </>
  )
}

const headerLines = (headers: Exchange['requestHeaders']): string[] =>
  headers.map(([name, value]) => `${name}: ${value}`)

const responseText = ({ status, failure, responseHeaders, head, tail, omitted, events, isOpen }: Exchange): string => {
  const body = tail === '' && !isOpen && events === 0 ? indent(head) : head
  return [
    ...(status === undefined ? [] : [`HTTP ${status}`, ...headerLines(responseHeaders), '']),
    body + (omitted > 0 ? `\n\n[${omitted} characters are left out]\n\n` : '') + tail,
    ...(events > 0 ? [`[${plural(events, 'event')}${isOpen ? ' so far' : ''}]`] : []),
    ...(failure === undefined ? [] : [`[${failure}]`]),
  ].join('\n')
}

/** Indents JSON for reading; other text stays as it is. */
const indent = (text: string): string => {
  const parsed = parseJson(text)
  return 'value' in parsed ? JSON.stringify(parsed.value, null, 2) : text
}

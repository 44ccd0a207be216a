import { parseJson } from '../../../json/index.ts'
import { escapeInvisible, plural, shorten } from '../../text/index.ts'
import { element } from '../elements/index.ts'
import { rawText } from './controls.ts'
import type { Exchange } from './recorder.ts'

const MAX_EXCHANGES = 20

const MAX_REQUEST_LENGTH = 64 * 1024

/** The time between two changes of the page: a stream can change very often, and a long text is slow to lay out. */
const DRAW_INTERVAL_MS = 100

type Shown = { element: HTMLDetailsElement; draw: (exchange: Exchange) => void }

/** Creates the raw exchange on the page: requests and responses as they were sent. */
export const createExchangeView = () => {
  const note = element('p.muted', 'Requests and responses appear here, the newest first. Credentials are hidden.')
  const shown = new Map<Exchange, Shown>()
  const changed = new Set<Exchange>()
  let number = 0
  const add = (exchange: Exchange): Shown => {
    number += 1
    const added = createShown(exchange, number)
    for (const older of shown.values()) older.element.open = false
    shown.set(exchange, added)
    note.after(added.element)
    const [oldest] = shown
    if (oldest && shown.size > MAX_EXCHANGES) {
      oldest[1].element.remove()
      shown.delete(oldest[0])
      note.textContent = `The last ${MAX_EXCHANGES} exchanges, the newest first. Credentials are hidden.`
    }
    return added
  }
  const draw = (): void => {
    for (const exchange of changed) (shown.get(exchange) ?? add(exchange)).draw(exchange)
    changed.clear()
  }
  return {
    element: element('div.console-exchanges', note),
    /** Shows an exchange, or what changed of it, after a moment. */
    update: (exchange: Exchange): void => {
      if (changed.size === 0) setTimeout(draw, DRAW_INTERVAL_MS)
      changed.add(exchange)
    },
  }
}

const createShown = (exchange: Exchange, number: number): Shown => {
  const { method, url, requestHeaders, requestBody } = exchange
  const body = shorten(indent(requestBody), MAX_REQUEST_LENGTH)
  const lines = [`${method} ${url}`, ...headerLines(requestHeaders), '', body]
  const title = element('summary')
  const request = rawText(`Request ${number}`, escapeInvisible(lines.join('\n')))
  const response = rawText(`Response ${number}`)
  const path = shorten(new URL(url).pathname, 100)
  return {
    element: element('details.console-exchange', { open: '' }, title, request, response),
    draw: current => {
      title.textContent = `${number}. ${method} ${path} – ${current.status ?? current.failure ?? 'waiting'}`
      response.textContent = escapeInvisible(responseText(current))
    },
  }
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

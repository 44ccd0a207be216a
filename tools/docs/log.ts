import { TIMING_METRICS } from '../../src/http/server-timing.ts'
import { code, type Page, read, readComment, table, wrap } from './page.ts'

const FILE = 'src/http/http-error.ts'

/** The page of the log. */
export const createLog = (): Page => ({
  name: 'log',
  title: 'The log',
  contents: 'the events of the log, and the fields of its lines; the metrics of `Server-Timing`',
  parts: [
    wrap(
      'Each line of the log of the Worker is a JSON object. [Monitoring](docs/guide/teams.md#monitoring) shows how ' +
        'to read the log. An A2A call writes one line; reading a card writes none:',
    ),
    `\`\`\`json
{"event": "call", "gen_ai.agent.id": "weather", "a2a.method.name": "SendMessage", "a2a.protocol.version": "1.0",
 "trace_id": "0af7651916cd43dd8448eb211c80319c", "span_id": "00f067aa0ba902b7", "parent_span_id": "b7ad6b7169203331",
 "trace_flags": "01", "calling_card.binding": "JSONRPC", "calling_card.caller": "token:k3v7q2mzt5ab",
 "calling_card.upstream.status_code": 200, "http.response.status_code": 200, "calling_card.duration_ms": 84}
\`\`\``,
    wrap(
      'A call that this host refuses, or whose agent fails, has `error.type`. No line contains a token, a body or a ' +
        'header, nor anything that a caller or an agent wrote, except for the id of a registered agent and the ids ' +
        'of a valid trace.',
    ),
    '## Events',
    table(
      ['event', 'level', 'when'],
      listMembers('LogEvent').map(event => [code(event), ...readEvent(event)]),
    ),
    '## Fields',
    wrap(
      'Names without `calling_card` are those of [OpenTelemetry](https://opentelemetry.io/docs/specs/semconv/). They ' +
        'are stable, except for `a2a.*`, `gen_ai.*` and `rpc.*`. `parent_span_id` is not standardized.',
    ),
    table(
      ['field', 'meaning'],
      [...listMembers('TextField'), ...listMembers('NumberField')].map(field => [code(field), readMember(field)]),
    ),
    '## Server-Timing',
    wrap(
      'With `Prefer: server-timing` (RFC 7240), the response to a card or call has the milliseconds of each part in ' +
        '`Server-Timing`, and `Preference-Applied: server-timing`. In Workers, the clock advances only during I/O, ' +
        'so a part without network operations shows 0 ms.',
    ),
    table(
      ['metric', 'time spent on'],
      TIMING_METRICS.map(name => [code(name), readComment('src/http/server-timing.ts', name, `'${name}',\n`)]),
    ),
  ],
})

/** Returns the members of a union of strings. */
const listMembers = (type: string): string[] => {
  const [, union = ''] = new RegExp(`^type ${type} =\\n((?: .*\\n)*)`, 'm').exec(read(FILE)) ?? []
  return [...union.matchAll(/^ {2}\| '(.*)'$/gm)].map(([, name = '']) => name)
}

const readMember = (name: string): string => readComment(FILE, name, String.raw`\| '${name}'`)

/** Returns the level of an event, and when it occurs: its doc comment, in which the first colon separates the two. */
const readEvent = (event: string): [level: string, when: string] => {
  const [, level, when] = /^(info|warn|error): (.*)$/.exec(readMember(event)) ?? []
  if (level === undefined || when === undefined)
    throw new Error(`${FILE}: the doc comment of ${event} must begin with its level, such as "info: "`)
  return [level, when]
}

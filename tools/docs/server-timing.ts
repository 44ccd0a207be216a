import { TIMING_METRICS } from '../../src/http/server-timing.ts'
import { code, type Page, readComment, table, wrap } from './page.ts'

/** The page of the metrics of `Server-Timing`. */
export const createServerTiming = (): Page => ({
  name: 'server-timing',
  title: 'Server-Timing',
  contents: 'the metrics of `Server-Timing`',
  parts: [
    wrap(
      'A card or call requested with `Prefer: server-timing` (RFC 7240) is answered with `Preference-Applied: ' +
        'server-timing` and, in `Server-Timing`, the milliseconds that it took (docs/observability.md).',
    ),
    table(
      ['metric', 'time spent on'],
      TIMING_METRICS.map(name => [code(name), readComment('src/http/server-timing.ts', name, `'${name}',\n`)]),
    ),
  ],
})

import { TIMING_METRICS } from '../../src/http/server-timing.ts'
import { code, type Page, readComment, table, wrap } from './page.ts'

/** The page of the metrics of `Server-Timing`. */
export const createServerTiming = (): Page => ({
  name: 'server-timing',
  title: 'Server-Timing',
  contents: 'the metrics of `Server-Timing`',
  parts: [
    wrap(
      'The response to a card or call that is requested with `Prefer: server-timing` (RFC 7240) has ' +
        '`Preference-Applied: server-timing` and, in `Server-Timing`, the milliseconds of each part ' +
        '(docs/guide/teams.md#monitoring). The clock of Workers stands still while a Worker computes, so a part ' +
        'without operations of the network takes 0 ms.',
    ),
    table(
      ['metric', 'time spent on'],
      TIMING_METRICS.map(name => [code(name), readComment('src/http/server-timing.ts', name, `'${name}',\n`)]),
    ),
  ],
})

import { rateLimits } from '../../src/api/contract/description.ts'
import * as limits from '../../src/limits.ts'
import { code, type Page, read, readComment, table, wrap } from './page.ts'

const FILE = 'src/limits.ts'

const units = {
  BYTES: { GiB: 1024 ** 3, MiB: 1024 * 1024, KiB: 1024, byte: 1 },
  SECONDS: { day: 86_400, hour: 3600, minute: 60, second: 1 },
}

/** Formats the value of a constant by the unit in its name, as the largest that divides it. */
export const formatLimit = (name: string, value: number): string => {
  const [, suffix] = /_(BYTES|SECONDS)$/.exec(name) ?? []
  const sizes = Object.entries(suffix === undefined ? {} : units[suffix as keyof typeof units])
  const [unit, size] = sizes.find(([, size]) => value % size === 0) ?? ['', 1]
  const count = value / size
  const plural = count === 1 || /^(|.iB)$/.test(unit) ? '' : 's'
  return `${count.toLocaleString('en-US')} ${unit}${plural}`.trim()
}

/** Returns the names of the constants below each heading of the file, which is a comment of one line. */
const listSections = (): [heading: string, names: string[]][] =>
  read(FILE)
    .split(/^\/\/ /m)
    .slice(1)
    .map(section => [
      section.slice(0, section.indexOf('\n')),
      [...section.matchAll(/^export const (\w+)/gm)].map(([, name = '']) => name),
    ])

/** The page of the limits. */
export const createLimits = (): Page => {
  const values: Record<string, number> = limits
  const toRow = (name: string) => [
    code(name),
    formatLimit(name, values[name] ?? Number.NaN),
    readComment(FILE, name, `export const ${name}\\b`),
  ]
  return {
    name: 'limits',
    title: 'Limits',
    contents: 'sizes, counts and times that the host bounds; rate limits',
    parts: [
      wrap(
        'Strings are measured in UTF-16 code units. [Security](docs/design/security.md) has the limits of each kind ' +
          'of outgoing request.',
      ),
      ...listSections().flatMap(([heading, names]) => [
        `## ${heading}`,
        table(['constant', 'value', 'what it limits'], names.map(toRow)),
      ]),
      '## Rate limits',
      wrap(
        '`wrangler.toml` sets them. Above a limit, the response is 429 with `Retry-After`. [Endpoints](endpoints.md) ' +
          'lists the limits that count each request.',
      ),
      table(
        ['binding', 'requests', 'for', 'what it counts'],
        Object.entries(rateLimits).map(([name, { requests, seconds, per }]) => [
          code(name),
          `${requests} in ${formatLimit('_SECONDS', seconds)}`,
          // What follows is in the last column.
          per.replace(/, for .*/, ''),
          readComment('src/api/contract/description.ts', name, `${name}: `),
        ]),
      ),
    ],
  }
}

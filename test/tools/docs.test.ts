import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { parseManifest } from '../../src/card/compile/index.ts'
import { findStaleFiles } from '../../tools/docs/index.ts'
import { formatLimit } from '../../tools/docs/limits.ts'
import { MANIFEST_EXAMPLE } from '../../tools/docs/manifest.ts'
import { linkPages, readComment, table, wrap } from '../../tools/docs/page.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

describe('npm run docs', () => {
  it('has written every file that repeats texts of the code', async () => {
    const stale = await findStaleFiles()
    expect(stale.map(([file]) => `${file} is not up to date: npm run docs`)).toEqual([])
  })

  it('writes a variable with its default and description', () => {
    const description = 'Seconds in which an agent must respond to a call.'
    expect(read('wrangler.toml')).toContain(`\n# ${description}\nUPSTREAM_TIMEOUT = "60"\n`)
    expect(JSON.parse(read('package.json')).cloudflare.bindings.UPSTREAM_TIMEOUT).toEqual({ description })
    expect(read('.dev.vars.example')).toContain('\n# The first token, which allows everything. ')
  })

  it.each([
    ['variables', '| `UPSTREAM_TIMEOUT` | `60` | Seconds in which an agent must respond to a call. |'],
    ['limits', '| `MAX_SKILLS` | 500 | Skills of one card. |'],
    ['limits', '| `LINT_LIMIT` | 60 in 1 minute | each client address | `POST /lint` and `POST /verify`. |'],
    ['problems', '| `no-receipt` | 404 | the agent was never checked |\n'],
    [
      'call-errors',
      '| `too-large` | -32600 | REQUEST_TOO_LARGE | 413 | 413 | The call is larger than `MAX_CALL_BYTES`. |',
    ],
    [
      'call-errors',
      '| `agent-refused` | -32603 | AGENT_REFUSED | 401, 403, 413, 429 | 401, 403, 413, 429 | The agent ',
    ],
    [
      'lint-rules',
      '| `version-semver` | warning | The version is a semantic version. | Clients cannot compare others. |',
    ],
    ['lint-rules', '| `observed-output-modes` | warning | The output modes include every media type that the agent '],
    ['commands', '| `--json` | print one JSON object on stdout | all except `init`, '],
    ['commands', '| `--format <format>` | `text`, `json`, `sarif`: the format of the report; default: `text` |'],
    ['commands', '| **`show <id>`** | Print the card of an agent as clients get it, '],
    ['commands', '| `4` | the host is unreachable, or rejects the token |'],
    [
      'manifest',
      '| `upstream.ttl` | integer from 30 to 86400 | Seconds for which a fetched card is fresh. Default: 300. |',
    ],
    ['manifest', '| `visibility` | `public`, `internal` | public: the agent is listed. '],
    ['manifest', '| `skills.*.tags` | Words by which people and catalogs find the skill. |'],
    ['log', '| `kv-read-failed` | error | KV did not respond; '],
    ['log', '| `calling_card.duration_ms` | Milliseconds until the headers of the response; '],
    ['log', '| `gate` | Rate limits, and checking the call. |'],
    [
      'endpoints',
      '| `POST /tokens` | `admin` | Issue a token. Problems: `invalid-token-request`, `too-many-tokens`. |',
    ],
    ['endpoints', '| with the query `limit` | `bad-cursor`, `bad-limit` |'],
    ['endpoints', '| `GET /openapi.json` | | Get the description of this API. '],
  ])('writes into %s: %s', (page, row) => {
    expect(read(`docs/reference/${page}.md`)).toContain(`\n${row}`)
  })

  it('begins the page of the manifest with one that the host accepts', () => {
    const manifest = parseManifest(parse(MANIFEST_EXAMPLE), {
      id: 'weather',
      requestOrigin: 'https://cards.example.com',
    })
    expect(manifest).toMatchObject({ id: 'weather' })
    expect(manifest).not.toHaveProperty('errors')
  })

  it('has written every page of the reference, and the index links to each', () => {
    const pages = globSync('docs/reference/*.md', { cwd: root }).map(read)
    expect(pages.filter(page => !page.includes('<!-- Written by `npm run docs`'))).toEqual([])
    expect(read('docs/reference/README.md').match(/^- \[/gm)).toHaveLength(pages.length - 1)
  })
})

it('a row without a doc comment right before it fails, and the error names it', () => {
  expect(readComment('src/limits.ts', 'MAX_SKILLS', 'export const MAX_SKILLS\\b')).toBe('Skills of one card.')
  expect(() => readComment('src/variables.ts', 'ROLE', "ROLE: 'public'")).toThrow(
    'src/variables.ts: ROLE needs a doc comment right before it',
  )
})

it.each([
  ['MAX_PARTS', 1000, '1,000'],
  ['MAX_CALL_BYTES', 4 * 1024 * 1024, '4 MiB'],
  ['MAX_CALL_BYTES', 1, '1 byte'],
  ['HEARTBEAT_SECONDS', 90, '90 seconds'],
  ['TASK_LIFETIME_SECONDS', 86_400, '1 day'],
])('%s is formatted in its largest unit: %s', (name, value, expected) => {
  expect(formatLimit(name, value)).toBe(expected)
})

it('the Markdown of a page has links to other pages, tables, and lines of at most 120 columns', () => {
  expect(linkPages('see docs/guide/without-cloudflare.md, docs/reference/log.md.')).toBe(
    'see [without cloudflare](../guide/without-cloudflare.md), [log](log.md).',
  )
  expect(linkPages('see docs/guide/teams.md#scopes or [all](docs/guide/teams.md#openid-connect).')).toBe(
    'see [scopes](../guide/teams.md#scopes) or [all](../guide/teams.md#openid-connect).',
  )
  expect(table(['a', 'b'], [['1|2', '']])).toBe('| a | b |\n|---|---|\n| 1\\|2 | |')
  expect(wrap(`${'x'.repeat(110)} \`code in one line\` end`)).toBe(`${'x'.repeat(110)}\n\`code in one line\` end`)
})

import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { EXIT_CODE_MEANINGS } from '../cli/exit-codes.ts'
import packageJson from '../package.json' with { type: 'json' }
import { PASSTHROUGH_STATUSES } from '../src/a2a/call-error.ts'
import { ERRORS } from '../src/a2a/error-catalogue.ts'
import { problems } from '../src/api/openapi/problems.ts'
import { routes } from '../src/app.ts'
import { changeRules } from '../src/card/diff/change-rules.ts'
import { rules } from '../src/card/lint/index.ts'
import { observedRules } from '../src/conformance/proposals.ts'
import { TIMING_METRICS } from '../src/http/server-timing.ts'
import * as limits from '../src/limits.ts'

const root = join(import.meta.dirname, '..')
const find = (patterns: string[]): string[] => globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] })
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const exists = (path: string): boolean => existsSync(join(root, path))

const reference = read('docs/reference.md')
const pages = find(['*.md', 'docs/*.md', '{cards,examples/*}/*.md'])

/** Returns the rows below a heading of a page whose first cell is code: the cells of each. */
const tableRows = (heading: string, page = reference): string[][] => {
  const lines = page.split('\n')
  const start = lines.findIndex(line => line.replace(/^#+ /, '') === heading)
  const level = lines[start]?.indexOf(' ') ?? 0
  const section = lines.slice(start + 1)
  const end = section.findIndex(line => line.startsWith('#') && line.indexOf(' ') <= level)
  const rows = section.slice(0, end === -1 ? section.length : end).filter(line => line.startsWith('| `'))
  if (start === -1 || rows.length === 0) throw new Error(`there is no table below "${heading}"`)
  return rows.map(row => row.split('|').map(cell => cell.trim())).map(cells => cells.slice(1, -1))
}

/** Expects rows in a table of docs/reference.md that begin with these cells, in any order. */
const expectTable = (heading: string, expected: readonly (readonly string[])[]): void => {
  const toRow = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  expectSame(
    heading,
    tableRows(heading).map(cells => toRow(cells.slice(0, expected[0]?.length))),
    expected.map(([name, ...cells]) => toRow([`\`${name}\``, ...cells])),
  )
}

/** The failure lists what to add to and what to remove from the section. */
const expectSame = (heading: string, documented: readonly string[], expected: readonly string[]): void => {
  const section = `"${heading}" of docs/reference.md`
  expect([
    ...expected.filter(entry => !documented.includes(entry)).map(entry => `add to ${section}: ${entry}`),
    ...documented.filter(entry => !expected.includes(entry)).map(entry => `remove from ${section}: ${entry}`),
    ...documented
      .filter((entry, index) => documented.indexOf(entry) !== index)
      .map(entry => `twice in ${section}: ${entry}`),
  ]).toEqual([])
}

const firstCode = ([cell = '']: readonly string[]): string => cell.replaceAll('`', '')

const units = {
  BYTES: { MiB: 1024 * 1024, KiB: 1024, byte: 1 },
  SECONDS: { day: 86_400, hour: 3600, minute: 60, second: 1 },
  MS: { minute: 60_000, second: 1000, millisecond: 1 },
}

/** Formats the value of a constant by the unit in its name, as the largest that divides it. */
const formatLimit = (name: string, value: number): string => {
  const [, suffix] = /_(BYTES|SECONDS|MS)$/.exec(name) ?? []
  const sizes = Object.entries(suffix === undefined ? {} : units[suffix as keyof typeof units])
  const [unit, size] = sizes.find(([, size]) => value % size === 0) ?? ['', 1]
  const count = value / size
  const plural = count === 1 || /^(|.iB)$/.test(unit) ? '' : 's'
  return `${count.toLocaleString('en-US')} ${unit}${plural}`.trim()
}

describe('docs/gateway.md', () => {
  it('lists every repair of an answer', () => {
    const [, union = ''] = /export type AnswerRepair =([^/]*)/.exec(read('src/gateway/upstream/repair-answer.ts')) ?? []
    const repairs = [...union.matchAll(/'([a-z-]+)'/g)].map(([, name]) => name)
    const documented = tableRows('What is repaired in an answer', read('docs/gateway.md')).map(firstCode).slice(1)
    expect(documented.toSorted()).toEqual(repairs.toSorted())
  })
})

describe('docs/reference.md', () => {
  it('lists every limit of src/limits.ts with its value', () => {
    expectTable(
      'Limits',
      Object.entries(limits).map(([name, value]) => [name, formatLimit(name, value)]),
    )
  })

  it('lists every endpoint of the route table in src/app.ts', () => {
    const documented = tableRows('Endpoints').flatMap(([cell = '']) => cell.match(/(?<=`)[A-Z]+ \/[^`]*/g) ?? [])
    expectSame(
      'Endpoints',
      documented,
      routes.map(([method, path]) => `${method} ${path.replace(/(?<![a-z]):(\w+)\+?/g, '{$1}')}`),
    )
  })

  it('lists every rate limit of wrangler.toml', () => {
    expectTable(
      'Rate limits',
      Object.entries(inject('hostConfig').rateLimits).map(([name, limit]) => [name, String(limit)]),
    )
  })

  it('lists every error of a call in src/a2a/error-catalogue.ts', () => {
    expectTable(
      'Calls',
      Object.entries(ERRORS).map(([kind, { code, reason, httpStatus, jsonRpcStatus }]) => {
        const status = typeof httpStatus === 'number' ? `${httpStatus}` : Object.keys(PASSTHROUGH_STATUSES).join(', ')
        return [kind, `${code}`, reason, `${jsonRpcStatus ?? status}`, status]
      }),
    )
  })

  it('lists every code of an HttpError in src with its status, and no other', () => {
    const sources = find(['src/**/*.ts']).map(read).join('\n')
    const used = [...sources.matchAll(/new HttpError\(\s*(\d+),\s*'([\w-]+)'/g)].map(
      ([, status, code]) => `${code} ${status}`,
    )
    // Others are not literals: `upstream-` and the code of a failed fetch, for example.
    const isBuilt = (code: string) =>
      !used.some(entry => entry.startsWith(`${code} `)) && sources.includes(`'${code.replace(/^upstream-/, '')}'`)
    const documented = tableRows('Other requests').map(([code = '', status]) => `${code.replaceAll('`', '')} ${status}`)
    const built = documented.filter(entry => isBuilt(entry.replace(/ .*/, '')))
    expectSame('Other requests', documented, [...new Set(used), ...built])
  })

  it('lists the same errors as the OpenAPI document', () => {
    const withoutLinks = (cell: string | undefined) => cell?.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    const documented = tableRows('Other requests').map(([code = '', status, when]) => [
      code.replaceAll('`', ''),
      [Number(status), withoutLinks(when)],
    ])
    expect(Object.fromEntries(documented)).toEqual(problems)
  })

  it('lists every metric of Server-Timing', () => {
    expectTable(
      'Server-Timing',
      TIMING_METRICS.map(name => [name]),
    )
  })

  it('lists every exit code of sync-card', () => {
    expectTable(
      'Exit codes',
      Object.entries(EXIT_CODE_MEANINGS).map(([code, meaning]) => [code, meaning]),
    )
  })

  it('lists every lint rule with its severity, in the order of a report', () => {
    expectTable(
      'Lint rules',
      rules.map(({ id, severity }) => [id, severity]),
    )
    expect(tableRows('Lint rules').map(firstCode)).toEqual(rules.map(({ id }) => id))
  })

  it('lists every kind of proposal with its severity and summary', () => {
    const cells = tableRows('Proposals').map(row => row.map(cell => cell.replaceAll('`', '')))
    expect(cells.map(([id, severity, summary]) => ({ id, severity, summary }))).toEqual(observedRules)
  })
})

describe('docs/history.md', () => {
  it('lists every kind of change with its class and the reason for it', () => {
    const rows = tableRows('Rules', read('docs/history.md')).map(row => row.map(cell => cell.replaceAll('`', '')))
    expect(rows.map(([rule, changeClass, , reason]) => [rule, changeClass, reason])).toEqual(
      Object.entries(changeRules).map(([rule, [changeClass, reason]]) => [rule, changeClass, reason]),
    )
    expect(rows.filter(([, , change]) => change === '')).toEqual([])
  })
})

describe('docs/observability.md', () => {
  const page = read('docs/observability.md')
  const log = read('src/http/http-error.ts')
  const events = [...log.matchAll(/^ {2}\| '([\w-]+)'$/gm)].map(([, event = '']) => event)
  const fields = [...log.matchAll(/^ {2}'?([\w.]+)'?\?: /gm)].map(([, field = '']) => field)

  it.each([
    ['Events', events],
    ['Fields', fields],
  ])('lists all that a line of the log can have: %s', (heading, expected) => {
    const rows = tableRows(heading, page)
    expect(expected.length).toBeGreaterThan(20)
    expect(rows.map(firstCode).toSorted()).toEqual(expected.toSorted())
    expect(rows.filter(cells => cells.at(-1) === '')).toEqual([])
  })
})

/** Returns the anchors of a page's headings, as GitHub makes them. */
const anchors = (page: string): string[] =>
  read(page)
    .replace(/^```.*?^```/gms, '')
    .match(/^#+ .*/gm)
    ?.map(heading =>
      heading
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ) ?? []

const resolves = (page: string, target: string): boolean => {
  const [file = '', anchor] = target.split('#')
  const path = file === '' ? page : join(dirname(page), file)
  return exists(path) && (anchor === undefined || (path.endsWith('.md') && anchors(path).includes(anchor)))
}

describe('every page', () => {
  /** Expects that no page has what `find` returns, and that there are pages. */
  const expectNone = (find: (text: string, page: string) => readonly string[]): void => {
    expect(pages.length).toBeGreaterThan(20)
    expect(pages.flatMap(page => find(read(page), page).map(found => `${page}: ${found}`))).toEqual([])
  }

  // Only a clone is sure to have the program, and only as npx runs it. Completion is for an installed command.
  it('runs sync-card with npx', () => {
    expectNone(text => {
      const blocks = text.match(/^ *```sh\n.*?^ *```|^ *\$ .*/gms) ?? []
      return blocks.join('\n').match(/^ *(?:\$ )?sync-card (?!completion).*/gm) ?? []
    })
  })

  it('links to files and headings that exist', () => {
    expectNone((text, page) => {
      const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
      return targets.filter(target => !/^https?:/.test(target) && !resolves(page, target))
    })
  })

  it('mentions only files and npm scripts that exist', () => {
    expectNone((text, page) => {
      const paths = text.match(/(?<=`|vitest run )(?:src|cli|test|docs|bench|cards|examples)\/[\w./-]*(?=`)/g) ?? []
      const scripts = text.match(/(?<=\bnpm run )[a-z:]*[a-z]/g) ?? []
      return [
        ...paths.filter(path => !exists(path) && !exists(join(dirname(page), path))),
        ...scripts.filter(script => !(script in packageJson.scripts)),
      ]
    })
  })
})

it('mentions only pages that exist in comments and messages', () => {
  const files = find(['{src,cli,test,bench,examples,cards}/**/*.{ts,js,yaml}', '*.{ts,toml}'])
  const mentions = files.flatMap(file =>
    (read(file).match(/\bdocs\/[\w-]+\.md/g) ?? []).map(page => `${file}: ${page}`),
  )
  expect(mentions.filter(mention => !exists(mention.split(': ')[1] ?? ''))).toEqual([])
})

// The name is free on the public registry: anyone could publish another program there.
it('installs sync-card from no registry', () => {
  const files = find(['*.md', 'docs/*.md', 'action.yml', '{src,cli,examples,cards}/**/*.{ts,js,md,yaml}'])
  const installs = /\bnpm (?:i|install|exec|x)\b(?: -[-\w]+)*(?: --)? sync-card\b(?!-\d).*|\bsync-card@.*/g
  expect(files.flatMap(file => (read(file).match(installs) ?? []).map(command => `${file}: ${command}`))).toEqual([])
})

describe('CONTRIBUTING.md', () => {
  /** Returns the paths of the tree in the first code block, two spaces a level. */
  const treePaths = (): string[] => {
    const [, tree = ''] = /^```\n(src\/.*?)^```/ms.exec(read('CONTRIBUTING.md')) ?? []
    const folders: string[] = []
    return tree.split('\n').flatMap(line => {
      const [, indent = '', names = ''] = /^( *)([\w./ -]*?)(?: {2}|$)/.exec(line) ?? []
      const level = indent.length / 2
      folders.splice(level)
      const paths = names
        .split(' ')
        .filter(Boolean)
        .map(name => join(...folders, name))
      folders.push(names.split(' ')[0] ?? '')
      return paths
    })
  }

  it('maps every folder of src and cli, and nothing that does not exist', () => {
    const mapped = treePaths().map(path => path.replace(/\/$/, ''))
    const folders = find(['src/*', 'cli/*', 'src/card/*', 'src/registry/*']).filter(path =>
      statSync(join(root, path)).isDirectory(),
    )
    expect({
      missing: folders.filter(path => !mapped.includes(path)),
      gone: mapped.filter(path => !exists(path)),
    }).toEqual({ missing: [], gone: [] })
  })
})

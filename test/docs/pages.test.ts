import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { createProgram } from '../../tools/docs/commands.ts'
import { BLOCK } from './page.ts'

const root = join(import.meta.dirname, '../..')
const find = (patterns: string[]): string[] => globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] })
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const exists = (path: string): boolean => existsSync(join(root, path))

const pages = find(['*.md', 'docs/**/*.md', '{cards,examples/*}/*.md'])

/** Returns the rows below a heading of a page whose first cell is code: the cells of each. */
const tableRows = (heading: string, page: string): string[][] => {
  const lines = page.split('\n')
  const start = lines.findIndex(line => line.replace(/^#+ /, '') === heading)
  const level = lines[start]?.indexOf(' ') ?? 0
  const section = lines.slice(start + 1)
  const end = section.findIndex(line => line.startsWith('#') && line.indexOf(' ') <= level)
  const rows = section.slice(0, end === -1 ? section.length : end).filter(line => line.startsWith('| `'))
  if (start === -1 || rows.length === 0) throw new Error(`there is no table below "${heading}"`)
  return rows.map(row => row.split('|').map(cell => cell.trim())).map(cells => cells.slice(1, -1))
}

const firstCode = ([cell = '']: readonly string[]): string => cell.replaceAll('`', '')

describe('docs/design/calls.md', () => {
  it('lists every repair of a response', () => {
    const [, union = ''] = /export type AnswerRepair =([^/]*)/.exec(read('src/a2a/repair-result.ts')) ?? []
    const repairs = [...union.matchAll(/'([a-z-]+)'/g)].map(([, name]) => name)
    const documented = tableRows('What is repaired', read('docs/design/calls.md')).map(firstCode)
    expect(documented.toSorted()).toEqual(repairs.toSorted())
  })
})

/** Returns the anchors of a page's headings, as GitHub makes them. */
const anchors = (page: string): string[] =>
  read(page)
    .replaceAll(BLOCK, '')
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

/** Returns the command that words name, and the word after it. */
const findCommand = (command: Command, [word = '--', ...rest]: readonly string[]): [Command, string] => {
  const child = command.commands.find(each => each.name() === word)
  return child ? findCommand(child, rest) : [command, word]
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

  it('runs only commands of sync-card that exist, with options that they have', () => {
    const program = createProgram()
    expectNone(text => {
      const commands = text
        .replaceAll(BLOCK, (block, _, language) => (language === 'sh' ? block : ''))
        .replaceAll(/\\\n\s*/g, '')
      const lines = commands.matchAll(/\bnpx sync-card( [^`\n|;&#)>,]*)/g)
      return [...lines].flatMap(([, line = '']) => {
        const [words = ''] = line.split(' -- ')
        const [command, next] = findCommand(program, words.split(' ').filter(Boolean))
        const isGroup = command !== program && command.commands.length > 0
        const isArgument = isGroup ? /^-/ : command === program ? /^(?:-|cards$|team\d$)|[./*$'"]/ : /./
        const options = [...command.options, ...program.options].map(({ long }) => long)
        const unknown = (words.match(/(?<= )--[a-z][\w-]*/g) ?? []).filter(flag => !options.includes(flag))
        return isArgument.test(next) && unknown.every(flag => flag === '--help') ? [] : [`sync-card${line}`]
      })
    })
  })

  // npm takes other options for its own: npm run deploy --env staging would deploy production.
  it('passes options to npm scripts after --', () => {
    expectNone(text => text.match(/\bnpm (?:start|run [\w:-]+) --(?! ).*/g) ?? [])
  })

  it('links to files and headings that exist', () => {
    expectNone((text, page) => {
      const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
      return targets.filter(target => !/^https?:/.test(target) && !resolves(page, target))
    })
  })

  it('ends its lines at column 120, tables and code blocks aside', () => {
    expectNone(text => {
      const prose = text.replaceAll(BLOCK, '').split('\n')
      return prose.filter(line => line.length > 120 && !line.startsWith('|'))
    })
  })

  it('has no row outside a table, or with another number of cells', () => {
    expectNone(text => {
      const tables = text.replaceAll(BLOCK, '').match(/(?:^\|.*\n)+/gm) ?? []
      return tables.flatMap(table => {
        const [header = '', delimiter = '', ...rows] = table.trim().split('\n')
        const count = (row: string) => row.match(/(?<!\\)\|/g)?.length
        const isTable = /^[|-]+$/.test(delimiter)
        return isTable ? rows.filter(row => count(row) !== count(delimiter)) : [header]
      })
    })
  })

  it('mentions only files and npm scripts that exist', () => {
    expectNone((text, page) => {
      const paths = text.match(/(?<=`|vitest run )(?:src|cli|test|docs|bench|cards|examples)\/[\w./-]*(?=`)/g) ?? []
      const scripts = text.match(/(?<=\bnpm run )[a-z:-]*[a-z]/g) ?? []
      return [
        ...paths.filter(path => !exists(path) && !exists(join(dirname(page), path))),
        ...scripts.filter(script => !(script in packageJson.scripts)),
      ]
    })
  })
})

it('mentions only pages that exist in comments and messages', () => {
  const files = find(['{src,cli,test,tools,bench,examples,cards}/**/*.{ts,js,yaml}', '*.{ts,toml}'])
  const mentions = files.flatMap(file =>
    (read(file).match(/\bdocs\/[\w/-]+\.md/g) ?? []).map(page => `${file}: ${page}`),
  )
  expect(mentions.filter(mention => !exists(mention.split(': ')[1] ?? ''))).toEqual([])
})

// The name is free on the public registry: anyone could publish another program there.
it('installs sync-card from no registry', () => {
  const files = find(['*.md', 'docs/**/*.md', 'action.yml', '{src,cli,examples,cards}/**/*.{ts,js,md,yaml}'])
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

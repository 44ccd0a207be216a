/** The commands that are not run, by the reason. */
export const EXCEPTIONS: Readonly<Record<string, RegExp>> = {
  'installs packages or clones repositories': /^(?:npm (?:ci|install|pack|publish|run build:cli)|git|pip|cd) /,
  'needs an account at Cloudflare': /^(?:npm run (?:deploy|build)|npx wrangler|npx sync-card keys (?!list))\b/,
  'names a deployed host': /^npx sync-card (?!init).*(?:--url https:|--host (?:prod|staging|old|new))/,
  'needs Python': /^python3 /,
  'needs an MCP client': /^(?:claude|npx @modelcontextprotocol\/inspector)/,
  'never ends': /^curl -N /,
}

/** Matches a code block: its indentation, language and text. */
export const BLOCK = /^( *)```(\w*)\n(.*?)^\1```$/gms

/** What a reader does: writes a file, or runs the commands of a block, which print `output` if the page shows it. */
export type Step = { path: string; text: string } | { line: number; commands: string; output?: Output }
type Output = { line: number; text: string; isJson: boolean }

/** The comments that give a block a meaning: the path of a file, and a command that keeps running. */
const FILE = /^(?:#|\/\/) ([\w./-]*\.[\w.]+)\n/
/** The end of a command that fails. What it prints is compared. */
const FAILS = ' || echo "exit code $?"'
const KEEPS_RUNNING = / *# in another terminal$/

/** Returns the steps of a page. Blocks in lists count without their indentation. */
export const parseSteps = (page: string): Step[] => {
  const blocks = [...page.matchAll(BLOCK)].map(found => {
    const [, indent = '', language = '', text = ''] = found
    const before = page.slice(0, found.index)
    const line = before.split('\n').length + 1
    return { line, language, text: text.replaceAll(RegExp(`^${indent}`, 'gm'), ''), follows: /```\n+$/.test(before) }
  })
  return blocks.flatMap(({ line, language, text }, index): Step[] => {
    const [, path] = FILE.exec(text) ?? []
    if (language !== 'sh') return path === undefined ? [] : [{ path, text }]
    const commands = toScript(text)
    const next = blocks[index + 1]
    const isShown = commands.trim() !== '' && next?.follows && ['', 'json'].includes(next.language)
    const output = isShown && { line: next.line, text: next.text, isJson: next.language === 'json' }
    return [{ line, commands, ...(output && { output }) }]
  })
}

/** Returns the commands of a block as bash runs them, without the exceptions. */
const toScript = (text: string): string =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter(line => !Object.values(EXCEPTIONS).some(pattern => pattern.test(`${line} `)))
    .map(line => {
      if (line.endsWith(FAILS)) return `expected='*'; ${line}; expected=0`
      return KEEPS_RUNNING.test(line) ? `${line.replace(KEEPS_RUNNING, '')} & wait_for_agent` : line
    })
    .join('\n')

/** What differs from run to run. A page may shorten it. */
const MASKS: readonly [RegExp, string][] = [
  [/\b[\da-f]{8}-(?:…|[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b)/g, 'UUID'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC)?/g, 'TIME'],
  [/\b(?:[\da-f]{64}\b|[\da-f]{8,63}…)/g, 'HEX'],
  [/\beyJ[\w-]+…?/g, 'BASE64'],
  [/\bcc_[\w-]+…?/g, 'TOKEN'],
  [/(?<=^|"id":"|\/tokens\/)[a-z\d]{12}(?=[:"\s])/gm, 'ID'],
  [/"signature":"[\w-]+…?"/g, '"signature":"BASE64"'],
  [/\b\d+(?:\.\d+)? (?:ms|s)\b/g, 'DURATION'],
]

/** Returns whether commands printed what a page shows, in which `…` is any text. A page may break the lines of JSON. */
export const isPrinted = ({ text, isJson }: Output, printed: string): boolean => {
  const normalize = (output: string): string => {
    const masked = MASKS.reduce((result, [pattern, name]) => result.replaceAll(pattern, name), output)
    return isJson ? masked.replaceAll(/\n\s*/g, '') : masked.trim()
  }
  const parts = normalize(text).split('…')
  const escaped = parts.map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return RegExp(`^${escaped.join('.*?')}$`, 's').test(normalize(printed))
}

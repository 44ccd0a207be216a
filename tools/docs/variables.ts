import { defaults, descriptions, hostSecrets, type VariableName } from '../../src/variables.ts'
import { code, linkPages, type Page, table, wrap } from './page.ts'

const vars = Object.entries(defaults) as [keyof typeof defaults, string | number][]

/** Where the documentation explains a variable. */
const pages: Partial<Record<VariableName, string>> = {
  ADMIN_TOKEN: 'docs/guide/deploy.md',
  SIGNING_KEY: 'docs/design/signatures.md',
  SIGNING_KEY_2: 'docs/design/signatures.md',
  WEBHOOK_SECRET: 'docs/guide/teams.md#webhook-and-events',
  WEBHOOK_URL: 'docs/guide/teams.md#webhook-and-events',
  LOCAL_ORIGINS: 'docs/design/security.md',
  ROLE: '[Shaman](docs/guide/clients.md#shaman-and-superx)',
}

/** The page of the variables. */
export const createVariables = (): Page => {
  const toRow = ([name, value]: readonly [VariableName, string | number]): string[] => {
    const page = pages[name]
    const link = page === undefined ? '' : ` See ${linkPages(page)}.`
    return [code(name), value === '' ? '' : code(value), `${descriptions[name]}${link}`]
  }
  return {
    name: 'variables',
    title: 'Variables',
    contents: 'what the owner of a host can configure',
    parts: [
      wrap(
        'The variables up to `LOCAL_ORIGINS` are set as secrets: `npm run deploy` sets `ADMIN_TOKEN`, and `npx ' +
          'sync-card keys` sets the signing keys. The others are under `[vars]` in `wrangler.toml`. A variable that ' +
          'is empty, missing or invalid has its default; `GET /health` and the log ' +
          '[report](docs/guide/teams.md#monitoring) invalid ones. [Commands](commands.md) has the variables of ' +
          '`sync-card`, `npm start` and `npm run deploy`.',
      ),
      table(['variable', 'default', 'meaning'], [...hostSecrets.map(name => [name, ''] as const), ...vars].map(toRow)),
    ],
  }
}

/** Breaks a text into comment lines of at most 120 columns. */
const comment = (text: string): string => text.replace(/(.{1,118})(?: |$)/g, '# $1\n')

/** Returns the text with a part of it replaced, which must occur. */
const replacePart = (text: string, part: RegExp, replacement: string): string => {
  if (!part.test(text)) throw new Error(`nothing matches ${part}`)
  return text.replace(part, () => replacement)
}

/** For each file that repeats the variables, a function that brings its text up to date. */
export const updates: Readonly<Record<string, (text: string) => string>> = {
  'wrangler.toml': text => {
    // An owner's values stay.
    const ownValue = (name: string): string | undefined => new RegExp(`^${name} = (.*)$`, 'm').exec(text)?.[1]
    const rows = vars
      .map(([name, value]) => `${comment(descriptions[name])}${name} = ${ownValue(name) ?? `"${value}"`}\n`)
      .join('')
    return replacePart(text, /^\[vars\]\n(?:#.*\n|\w.*\n)*/m, `[vars]\n${rows}`)
  },
  '.dev.vars.example': text =>
    replacePart(text, /(?:^#.*\n)+ADMIN_TOKEN=$/m, `${comment(descriptions.ADMIN_TOKEN)}ADMIN_TOKEN=`),
  'package.json': text => {
    const { CARDS } = JSON.parse(text).cloudflare.bindings
    const texts = Object.fromEntries(vars.map(([name]) => [name, { description: descriptions[name] }]))
    const bindings = { ADMIN_TOKEN: { description: descriptions.ADMIN_TOKEN }, CARDS, ...texts }
    const written = `"cloudflare": ${JSON.stringify({ bindings }, null, 2).replaceAll('\n', '\n  ')}`
    return replacePart(text, /"cloudflare": \{[\s\S]*?\n {2}\}/, written)
  },
}

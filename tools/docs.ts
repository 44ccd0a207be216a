/**
 * Writes what files repeat of the code: `npm run docs`. With `--check`, lists the files that would change, and fails if
 * there are any.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaults, descriptions, hostSecrets, type VariableName } from '../src/variables.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const vars = Object.entries(defaults) as [keyof typeof defaults, string | number][]

/** Where the documentation explains a variable. */
const pages: Partial<Record<VariableName, string>> = {
  ADMIN_TOKEN: 'auth.md#the-admin_token',
  SIGNING_KEY: 'signatures.md#keys',
  SIGNING_KEY_2: 'signatures.md#keys',
  WEBHOOK_SECRET: 'events.md#the-webhook',
  WEBHOOK_URL: 'events.md#the-webhook',
  LOCAL_ORIGINS: 'auth.md#web-pages-and-npm-start',
  ROLE: 'compat.md#shaman',
}

/** Breaks a text into comment lines of at most 120 columns. */
const comment = (text: string): string => text.replace(/(.{1,118})(?: |$)/g, '# $1\n')

const tableRow = (name: VariableName, value: string | number): string => {
  const page = pages[name]
  const link = page === undefined ? '' : ` ([${page.split('#', 1)[0]}](${page}))`
  return `| \`${name}\` |${value === '' ? '' : ` \`${value}\``} | ${descriptions[name]}${link} |\n`
}

/** Returns the text with a part of it replaced, which must occur. */
const replacePart = (text: string, part: RegExp, replacement: string): string => {
  if (!part.test(text)) throw new Error(`nothing matches ${part}`)
  return text.replace(part, () => replacement)
}

/** For each file, a function that brings its text up to date. */
const updates: Readonly<Record<string, (text: string) => string>> = {
  'wrangler.toml': text => {
    // An owner's values stay.
    const ownValue = (name: string): string | undefined => new RegExp(`^${name} = (.*)$`, 'm').exec(text)?.[1]
    const table = vars
      .map(([name, value]) => `${comment(descriptions[name])}${name} = ${ownValue(name) ?? `"${value}"`}\n`)
      .join('')
    return replacePart(text, /^\[vars\]\n(?:#.*\n|\w.*\n)*/m, `[vars]\n${table}`)
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
  'docs/reference.md': text => {
    const rows = [...hostSecrets.map(name => tableRow(name, '')), ...vars.map(([name, value]) => tableRow(name, value))]
    const table = `| variable | default | meaning |\n|---|---|---|\n${rows.join('')}`
    return replacePart(text, /^\| variable \| default \| meaning \|\n(?:\|.*\n)+/m, table)
  },
}

/** Returns the files that are not up to date, with the texts that they should have. */
export const findStaleFiles = (): [file: string, text: string][] =>
  Object.entries(updates).flatMap(([file, update]): [string, string][] => {
    const text = read(file)
    const updated = update(text)
    return updated === text ? [] : [[file, updated]]
  })

if (process.argv[1] === import.meta.filename) {
  const stale = findStaleFiles()
  const isCheck = process.argv.includes('--check')
  for (const [file, text] of stale) {
    console.log(isCheck ? `${file} is not up to date: npm run docs` : `${file} is updated.`)
    if (!isCheck) writeFileSync(join(root, file), text)
  }
  if (isCheck && stale.length > 0) process.exitCode = 1
}

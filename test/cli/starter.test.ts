import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadManifests } from '../../cli/manifests/index.ts'
import { isUneditedStarter, STARTER_DEFAULTS, starterCard } from '../../cli/manifests/starter.ts'
import { Workspace } from './workspace.ts'

const answers = {
  name: 'Weather',
  description: 'Forecasts the weather of any place',
  url: 'https://weather.example.org/a2a',
}

/** Reads a card as `sync-card` does. */
const load = (text: string) => {
  const { folder } = new Workspace({ 'weather.yaml': text })
  return loadManifests(['weather.yaml'], 'http://127.0.0.1:8787', folder)
}

describe('starterCard', () => {
  it('writes a card without lint errors and warnings', () => {
    for (const given of [STARTER_DEFAULTS, answers]) {
      const { drafts, invalid } = load(`${starterCard(given === answers ? answers : {})}visibility: public\n`)
      expect(invalid).toEqual([])
      const issues = drafts.flatMap(({ compiled }) => compiled?.report.issues ?? [])
      expect(issues.filter(({ severity }) => severity !== 'info')).toEqual([])
      const { name, description, url } = given
      const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
      expect(drafts[0]?.compiled?.card).toMatchObject({ name, description, supportedInterfaces })
    }
  })

  it('suggests fields in its comments that are valid as they are', () => {
    const uncommented = starterCard(answers).replace(/^( *)# (?=visibility:|route:|skills:|security| {2,}\S)/gm, '$1')
    const { drafts, invalid } = load(uncommented)
    expect(invalid).toEqual([])
    expect(drafts[0]?.manifest).toMatchObject({ visibility: 'public', route: 'direct' })
    expect(drafts[0]?.manifest.card).toMatchObject({ skills: [{ id: 'forecast' }], security: [{ token: [] }] })
    const issues = drafts.flatMap(({ compiled }) => compiled?.report.issues ?? [])
    expect(issues.map(({ rule }) => rule)).toEqual([])
  })

  it('is the card in cards/ of the repository', () => {
    expect(readFileSync('cards/my-agent.yaml', 'utf8')).toBe(starterCard({}))
  })

  it('adds only the name and the description to the card of an MCP server, and nothing to a fetched one', () => {
    const { name, description } = answers
    expect(parse(starterCard({ ...answers, reach: 'mcp' })).card).toEqual({ name, description })
    expect(parse(starterCard({ ...answers, reach: 'card' })).card).toBeUndefined()
  })

  it('writes texts as they are', () => {
    const long = `a sentence ${'of many words '.repeat(20)}`
    const texts = ['Yes: # no', '- [x] {y}', 'true', '1.10', '"quoted" \\ \'both\'', 'two\nlines: here\n', long]
    for (const text of [...texts, '名前 🌦', '# comment', '*alias &anchor !tag', '']) {
      const { card } = parse(starterCard({ ...answers, name: text, description: text }))
      expect(card).toMatchObject({ name: text, description: text })
    }
  })
})

describe('isUneditedStarter', () => {
  it('recognizes a starter without answers, whatever its comments and its host', () => {
    expect(isUneditedStarter(parse(starterCard({})))).toBe(true)
    expect(isUneditedStarter(parse(starterCard({ host: 'https://cards.example.com' })))).toBe(true)
    expect(isUneditedStarter(parse(starterCard({}).replace(/^ *#.*\n/gm, '')))).toBe(true)
  })

  it('does not recognize one with an answer, nor anything else', () => {
    for (const [field, value] of Object.entries(answers))
      expect(isUneditedStarter(parse(starterCard({ [field]: value }))), field).toBe(false)
    for (const value of [null, {}, 'text', [{ card: null }], { card: null }])
      expect(isUneditedStarter(value)).toBe(false)
  })
})

import { compile } from '../../../src/card/compile/index.ts'
import type { Issue } from '../../../src/card/model/report.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'

/** A skill in which the linter finds nothing. */
export const cleanSkill = {
  id: 'code-review',
  name: 'Code Review',
  description: 'Reviews Python and Go code for security vulnerabilities and style violations',
  tags: ['code', 'review'],
  examples: ['Review this function', 'Check this module for bugs'],
}

/** A card in which the linter finds nothing. */
export const cleanCard = {
  name: 'Code Review Agent',
  description: 'Analyzes code for bugs, security vulnerabilities and style issues',
  version: '2.1.0',
  url: 'https://review.example.com/a2a',
  protocolVersion: '0.3.0',
  preferredTransport: 'JSONRPC',
  capabilities: { streaming: true, pushNotifications: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['application/json'],
  skills: [cleanSkill],
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
  security: [{ bearer: [] }],
}

/** What the linter finds in the clean card with these fields in place of its own; `undefined` takes a field out. */
export const issuesWith = (fields: Record<string, Json | undefined>, manifest: JsonObject = {}): Issue[] =>
  issuesOf({ ...cleanCard, ...fields }, manifest)

/** What the linter finds in a card that registers. */
export const issuesOf = (card: Record<string, Json | undefined>, manifest: JsonObject = {}): Issue[] => {
  const document = JSON.parse(JSON.stringify({ card, ...manifest }))
  const result = compile(document, { id: 'agent', requestOrigin: 'https://host.example' })
  if ('errors' in result) throw new Error(`refused: ${JSON.stringify(result.errors)}`)
  return result.compiled.report.issues
}

/** Each issue as one line: rule, severity, pointer. */
export const lines = (issues: readonly Issue[]): string[] =>
  issues.map(({ rule, severity, pointer }) => `${rule} ${severity} ${pointer}`)

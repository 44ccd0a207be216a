import type { Route } from '../../src/api/contract/start.ts'
import { createChanges } from './changes.ts'
import { createCommands } from './commands.ts'
import { createEndpoints, readEndpoints } from './endpoints.ts'
import { createCallErrors, createProblems } from './errors.ts'
import { createLimits } from './limits.ts'
import { createLintRules } from './lint-rules.ts'
import { createLog } from './log.ts'
import { createManifest } from './manifest.ts'
import { writePage } from './page.ts'
import { createVariables } from './variables.ts'

/** Returns the files of docs/reference with their texts. */
export const writeReference = async (routes: readonly Route[]): Promise<Record<string, string>> => {
  const endpoints = await readEndpoints(routes)
  const pages = [
    createEndpoints(endpoints),
    createProblems(),
    createCallErrors(),
    createLimits(),
    createVariables(),
    createManifest(),
    createLintRules(),
    createChanges(),
    createCommands(),
    createLog(),
  ]
  const index = pages.map(({ name, title, contents }) => `- [${title}](${name}.md): ${contents}`)
  const about = 'Tables that `npm run docs` writes from the code.'
  const texts = pages.map(page => [page.name, writePage(page)] as const)
  return Object.fromEntries(
    [['README', writePage({ title: 'Reference', parts: [about, index.join('\n')] })] as const, ...texts].map(
      ([name, text]) => [`docs/reference/${name}.md`, text],
    ),
  )
}

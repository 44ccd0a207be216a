import colors from 'picocolors'
import { telling } from '../sync/actions.ts'
import type { Outcome, Result } from '../sync/outcome.ts'
import { changeText } from './change-text.ts'
import { distinct, issueText, problemText } from './findings-text.ts'

/**
 * What came of a synchronisation, for people: a line for each agent, or for those that are `news`, what is wrong below it,
 * and a sum of all.
 */
export const outcomeText = ({ url, results, failure }: Outcome, news: readonly Result[] = results): string =>
  [
    ...news.map(resultText),
    ...(failure === undefined ? [] : [failureText(failure, results)]),
    ...infos(news),
    sum(url, results),
  ].join('\n')

const resultText = (result: Result): string => {
  const {
    id,
    file,
    action,
    detail,
    problems = [],
    root,
    published,
    unexposed,
    live,
    change,
    source,
    notes = [],
  } = result
  const { mark, paint } = telling(action)
  const name = id ?? file ?? ''
  const extras = [
    file !== undefined && file !== name && `(${file})`,
    root && 'the root agent',
    unexposed && 'internal: it does not say `exposed: true`',
    published === false && live !== true && colors.yellow('kept, but not at the edge yet: the host goes on publishing'),
    live === true && 'live',
    live === false && colors.yellow('stored, but the edge serves the old card still'),
    source !== undefined && colors.yellow(source),
    detail,
  ].filter(text => typeof text === 'string' && text !== '')
  const line = `${colors[paint](`${mark} ${action.padEnd(9)}`)} ${colors.bold(name)} ${extras.join(' · ')}`.trimEnd()
  const meanwhile = action === 'changed meanwhile' && change ? [changeText({ ...result, file: 'on the host' })] : []
  return [
    line,
    ...[
      ...distinct([...problems.map(problemText), ...notes.map(note => `its card: ${note}`), ...worthTelling(result)]),
      ...meanwhile,
    ]
      .join('\n')
      .split('\n')
      .filter(Boolean)
      .map(indent),
  ].join('\n')
}

/** An owner who pushes hears what breaks or misleads clients; of what is not touched, only what breaks them. */
const worthTelling = ({ action, findings = [] }: Result): string[] =>
  findings
    .filter(({ issue: { severity } }) => severity === 'error' || (severity === 'warning' && action !== 'unchanged'))
    .map(({ issue, at }) => issueText(issue, at))

/** What is only good to know is counted: the rest of what the linter says is a command away. */
const infos = (results: readonly Result[]): string[] => {
  const count = results
    .filter(({ action }) => action !== 'unchanged')
    .flatMap(({ findings = [] }) => findings)
    .filter(({ issue }) => issue.severity === 'info').length
  return count === 0 ? [] : [colors.dim(`${count} ${count === 1 ? 'info' : 'infos'}: sync-card lint`)]
}

const indent = (line: string): string => `    ${line}`

const failureText = (failure: string, results: readonly Result[]): string => {
  const names = (...actions: string[]) =>
    results.flatMap(({ action, id, file }) => (actions.includes(action) ? [id ?? file] : [])).join(', ') || 'nothing'
  return [
    colors.red(`Stopped: ${failure}.`),
    `  pushed:     ${names('created', 'updated', 'deleted')}`,
    `  not pushed: ${names('not pushed')}`,
  ].join('\n')
}

const sum = (url: string, results: readonly Result[]): string => {
  const counts = Object.entries(Object.groupBy(results, result => result.action))
  return colors.dim(`${url}: ${counts.map(([action, items]) => `${items.length} ${action}`).join(', ')}`)
}

import type { BadFile } from '../files/bad-file.ts'
import { cardFiles, cardsFolder, howToStart } from '../files/card-files.ts'
import { load } from '../files/load.ts'
import { connect } from '../host/host.ts'
import { changeText } from '../report/change-text.ts'
import type { Settings } from '../settings.ts'
import { UsageError } from '../usage-error.ts'
import type { SyncOptions } from './options.ts'
import type { Outcome, Result } from './outcome.ts'
import type { Step } from './plan.ts'
import { resultOf } from './push.ts'
import { Run } from './run.ts'
import type { Voice } from './voice.ts'

/** Brings a host in line with the owner's files, and says what came of each. */
export const syncCards = async (
  named: readonly string[],
  { url, token }: Settings,
  options: SyncOptions,
  voice: Voice,
): Promise<Outcome> => {
  const files = cardFiles(named)
  if (files.length === 0) throw new UsageError(`${named.join(', ') || cardsFolder} holds no cards. ${howToStart}`)
  const { drafts, bad } = load(files, url)
  const host = connect({ url, token, retries: options.retries, note: voice.note })
  const run = new Run(host, options, voice)
  const steps = await run.plan(drafts)
  const stale = options.prune ? await run.strays(drafts, bad) : []
  const results = [...bad.map(invalid), ...steps.flatMap(step => ('action' in step ? [step] : []))]
  const todo = steps.filter((step): step is Step => 'todo' in step)
  for (const step of todo) if (step.todo === 'update') voice.say(changeText(resultOf(step)))
  results.push(...(await run.carryOut(todo)), ...(await run.prune(stale)))
  const { failure } = run.circuit
  results.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  return { url, results, ...(failure && { failure: failure.message }) }
}

const nameOf = ({ file, id }: Result): string => file ?? id ?? ''

const invalid = ({ file, id, problems }: BadFile): Result => ({
  file,
  ...(id !== undefined && { id }),
  action: 'invalid',
  problems,
})

import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { describeDifference } from '../../tools/diff/compare.ts'
import { readRecorded, replay } from '../../tools/diff/record.ts'

// `npm run diff -- <git ref> --record test/gateway/recorded-calls.json` writes the file.
const recorded = readRecorded(join(import.meta.dirname, 'recorded-calls.json'))

it('sends, responds and logs what was recorded, for calls of every kind', async () => {
  const replayed = await replay(recorded, inject('hostConfig'))
  const differing = replayed.flatMap(({ testCase: { agent, steps }, differences }) =>
    differences.map(each => `${agent.id} ${steps.at(-1)?.path}\n${describeDifference(each)}`),
  )
  expect(differing.join('\n')).toBe('')
  expect(replayed.length).toBeGreaterThan(100)
})

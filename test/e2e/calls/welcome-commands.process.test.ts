// Starts the shared hosts, which other tests of processes do without.
import '../../support/host-setup.ts'

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { SAMPLES } from '../../../cli/dev/welcome.ts'
import { sharedHost, token } from '../../support/host.ts'
import { sampleManifest } from './agents.ts'

const host = sharedHost('examples')
beforeAll(async () => {
  for (const id of Object.keys(SAMPLES)) expect((await host.put(id, sampleManifest(id))).ok).toBe(true)
})

it('the commands that npm start shows print what they say, run in a shell', async () => {
  const { origin } = host.url
  const commands = Object.entries(SAMPLES).flatMap(([id, sample]) => sample.commands(`${origin}/agents/${id}`))
  const env = { ...process.env, TOKEN: token }
  const printed = await Promise.all(
    commands.map(async command => (await promisify(execFile)('sh', ['-c', command], { env })).stdout),
  )
  const events = (printed[1] ?? '').split('\n\n').filter(event => event !== '')
  expect([events.length >= 6, events.at(-1)]).toEqual([true, expect.stringContaining('TASK_STATE_COMPLETED')])
  const [message, , refused, extended, tools, called] = printed.map((text, index) => index !== 1 && JSON.parse(text))
  expect(message.result.task.artifacts[0].parts).toEqual([{ text: 'hello', mediaType: 'text/plain' }])
  expect(refused.error).toMatchObject({ code: -32005, message: expect.stringContaining('text/plain') })
  expect(extended.skills.map(({ id }: { id: string }) => id)).toEqual(['forecast', 'historical'])
  expect(tools).toMatchObject({
    protocol: 'mcp',
    skills: expect.arrayContaining([expect.objectContaining({ id: 'count_words' })]),
  })
  expect(called.result.task).toMatchObject({
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ parts: [{ text: expect.stringContaining('3') }] }],
  })
})

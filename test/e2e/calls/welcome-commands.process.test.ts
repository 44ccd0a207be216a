import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ECHO_ID, TOOL_BOX_ID, WEATHER_ID } from '../../../cli/dev/samples.ts'
import { echoCommands, extendedCardCommands, toolCommands } from '../../../cli/dev/welcome.ts'
import { installCurl } from '../../support/curl.ts'
import { type OwnHost, startHost, token } from '../../support/host.ts'
import { register, sampleManifest } from './agents.ts'

let host: OwnHost
const curl = installCurl()
beforeAll(async () => {
  host = await startHost({}, { examples: ['echo-agent', 'mcp-server'] })
  const samples = [ECHO_ID, TOOL_BOX_ID, WEATHER_ID].map(id => [id, sampleManifest(id)])
  await register(host, Object.fromEntries(samples))
})
afterAll(async () => {
  curl.remove()
  await host.close()
})

const runCommand = async (index: number): Promise<string> => {
  const { origin } = host.url
  const command = [...echoCommands(origin), ...extendedCardCommands(origin), ...toolCommands(origin)][index] ?? ''
  const env = { TOKEN: token, PATH: `${curl.folder}:/usr/bin:/bin` } as unknown as NodeJS.ProcessEnv
  return (await promisify(execFile)('sh', ['-c', command], { env })).stdout
}

describe('the commands that npm start shows, run in a shell', () => {
  it('send a message and print the response', async () => {
    const { result } = JSON.parse(await runCommand(0))
    expect(result.task.artifacts[0].parts).toEqual([{ text: 'hello', mediaType: 'text/plain' }])
  })

  it('stream a message', async () => {
    const events = (await runCommand(1)).split('\n\n').filter(event => event !== '')
    expect(events.length).toBeGreaterThanOrEqual(6)
    expect(events.at(-1)).toContain('TASK_STATE_COMPLETED')
  })

  it('show an error', async () => {
    expect(JSON.parse(await runCommand(2)).error).toMatchObject({
      code: -32005,
      message: expect.stringContaining('text/plain'),
    })
  })

  it('read the extended card', async () => {
    expect(JSON.parse(await runCommand(3)).skills.map(({ id }: { id: string }) => id)).toEqual([
      'forecast',
      'historical',
    ])
  })

  it('show the card of an MCP server', async () => {
    const { protocol, skills } = JSON.parse(await runCommand(4))
    expect([protocol, skills.map(({ id }: { id: string }) => id)]).toEqual([
      'mcp',
      expect.arrayContaining(['count_words']),
    ])
  })

  it('call a tool of the MCP server', async () => {
    const { result } = JSON.parse(await runCommand(5))
    expect(result.task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: expect.stringContaining('3') }] }],
    })
  })
})

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

// The A2A server of gemini-cli, with a model that always says the same.

const candidate = { content: { role: 'model', parts: [{ text: 'It rains' }] }, finishReason: 'STOP', index: 0 }
const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
const answer = JSON.stringify({ candidates: [candidate], usageMetadata })
const model = createServer((request, response) => {
  const streams = request.url.includes('alt=sse')
  response.setHeader('Content-Type', streams ? 'text/event-stream' : 'application/json')
  response.end(streams ? `data: ${answer}\r\n\r\n` : answer)
}).listen(0, '127.0.0.1', () => {
  const directory = import.meta.dirname
  const home = mkdtempSync(join(directory, 'home-'))
  const settings = { privacy: { usageStatisticsEnabled: false }, telemetry: { enabled: false } }
  mkdirSync(join(home, '.gemini'))
  writeFileSync(
    join(home, '.gemini/settings.json'),
    JSON.stringify({ ...settings, general: { disableAutoUpdate: true } }),
  )
  const server = spawn(
    process.execPath,
    [join(directory, 'node_modules/@google/gemini-cli-a2a-server/dist/a2a-server.mjs')],
    {
      cwd: home,
      stdio: 'inherit',
      env: {
        PATH: process.env.PATH,
        HOME: home,
        GEMINI_API_KEY: 'none',
        GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${model.address().port}`,
        CODER_AGENT_PORT: process.env.PORT,
        CODER_AGENT_WORKSPACE_PATH: home,
        GEMINI_FOLDER_TRUST: 'true',
      },
    },
  )
  process.once('exit', () => server.kill())
  process.once('SIGTERM', () => process.exit())
})

import { writeSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { AgentCard } from '@a2a-js/sdk'
import { agentCardHandler } from '@a2a-js/sdk/server/express'
import express from 'express'

// Takes the card as its argument. Reports its port as workerd does: as a line of JSON on file descriptor 3.
const card = JSON.parse(process.argv[2] ?? '{}') as AgentCard
const app = express()
app.use('/agents/:id/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: async () => card }))
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  writeSync(3, `${JSON.stringify({ event: 'listen', socket: 'express', port })}\n`)
})

import { A2AClient } from '@a2a-js/sdk/client'
import { A2AAgent } from '@ag-ui/a2a'

// Runs an agent as a front end of AG-UI does.

const agent = new A2AAgent({ a2aClient: new A2AClient(process.argv[2]), threadId: 'thread-1' })
const messages = [{ id: 'u1', role: 'user', content: 'Does it rain?' }]
const input = { threadId: 'thread-1', runId: 'r', messages, tools: [], context: [], state: {}, forwardedProps: {} }
agent.run(input).subscribe({
  next: event => console.log(JSON.stringify(event)),
  error: error => {
    console.log('ERROR', error)
    process.exit(1)
  },
  complete: () => process.exit(),
})

// The agent behind the gateways. It sends a constant response, ten events for a stream, and 100 MB of events for a
// stream whose text is "flood". The text "start a task" starts a new one; "start task-1" starts this one, for each build
// of the host. A message is answered in the version and binding of the call.

const messageText = text =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    result: { message: { messageId: 'm-2', role: 'ROLE_AGENT', parts: [{ text }] } },
  })
const weather = 'Sunny in Tokyo, 21 degrees.'
const answer = messageText(weather)
const restAnswer = JSON.stringify({ message: { messageId: 'm-2', role: 'ROLE_AGENT', parts: [{ text: weather }] } })
const oldAnswer = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: { kind: 'message', messageId: 'm-2', role: 'agent', parts: [{ kind: 'text', text: weather }] },
})
let tasks = 1
const task = id => ({
  id,
  contextId: `context of ${id}`,
  status: { state: 'TASK_STATE_COMPLETED' },
  artifacts: [{ artifactId: 'a', parts: [{ text: weather }] }],
})
const resultResponse = result => Response.json({ jsonrpc: '2.0', id: 1, result })
const textResponse = (text, type) => new Response(text, { headers: { 'Content-Type': type } })
const encoder = new TextEncoder()
const event = text => encoder.encode(`data: ${messageText(text)}\n\n`)
const small = event('21 degrees')
const large = event('x'.repeat(64 * 1024))
const floodBytes = 100 * 1024 * 1024

const stream = (bytes, count) => {
  let sent = 0
  return new Response(
    new ReadableStream({
      pull(controller) {
        if (sent++ < count) controller.enqueue(bytes)
        else controller.close()
      },
    }),
    { headers: { 'Content-Type': 'text/event-stream' } },
  )
}

export default {
  async fetch(request) {
    const text = await request.text()
    if (text.includes('"flood"')) return stream(large, Math.ceil(floodBytes / large.byteLength))
    if (text.includes('SendStreamingMessage')) return stream(small, 10)
    if (text.includes('"start a task"')) return resultResponse({ task: task(`task-${++tasks}`) })
    if (text.includes('"start task-1"') || text.includes('"GetTask"')) return resultResponse(task('task-1'))
    if (text.includes('"message/send"')) return textResponse(oldAnswer, 'application/json')
    if (request.url.endsWith('/message:send')) return textResponse(restAnswer, 'application/a2a+json')
    return textResponse(answer, 'application/json')
  },
}

// The least that any gateway must do that is not blind: it reads a call as JSON and writes it anew, gives the agent a minute,
// looks whether the answer is JSON, sends headers of its own and writes a line of log. It checks nothing, knows one agent only,
// and hands a stream on as it is.

const headers = new Headers({
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  'Access-Control-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
})

const within = (promise, milliseconds) => {
  const { promise: late, resolve } = Promise.withResolvers()
  const timer = setTimeout(resolve, milliseconds)
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

const answer = async (call, upstreamUrl) => {
  const upstream = await fetch(upstreamUrl, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json',
      'A2A-Version': '1.0',
      Via: '1.1 careful',
    },
    body: JSON.stringify(call),
  })
  if (upstream.headers.get('Content-Type') === 'text/event-stream')
    return new Response(upstream.body, { headers: { 'Content-Type': 'text/event-stream' } })
  const text = await upstream.text()
  JSON.parse(text)
  return new Response(text, { status: upstream.status, headers })
}

export default {
  async fetch(request, env) {
    const call = JSON.parse(await request.text())
    const response = await within(answer(call, env.UPSTREAM), 60_000)
    console.info(JSON.stringify({ event: 'call', agent: 'weather', operation: call.method, status: response.status }))
    return response
  },
}

// The minimum of a gateway that is not blind: it parses and serializes a call, gives the agent a minute, checks that the response
// is JSON, sends its own headers and logs a line. It validates nothing, knows one agent, and forwards a stream as it is.

const headers = new Headers({
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  'Access-Control-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
})

const withTimeout = (promise, milliseconds) => {
  const { promise: timeout, resolve } = Promise.withResolvers()
  const timer = setTimeout(resolve, milliseconds)
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}

const forward = async (call, upstreamUrl) => {
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
    const response = await withTimeout(forward(call, env.UPSTREAM), 60_000)
    console.info(JSON.stringify({ event: 'call', agent: 'weather', operation: call.method, status: response.status }))
    return response
  },
}

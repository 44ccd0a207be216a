// A KV namespace as workerd asks for one: GET, PUT and DELETE of /{key}. It keeps what is put, and makes up
// card:agent-000001, -000002 … below AGENTS from card:agent-000000, so that 100,000 agents need no 100,000 writes.
// A second socket reads the counts (GET /counts), forgets them (DELETE /counts), and holds or releases the answers to
// reads (PUT and DELETE of /hold), so that a test can let requests pile up without a sleep.

const pattern = 'agent-000000'
const values = new Map()
const noCounts = () => ({ get: 0, put: 0, delete: 0 })
let counts = noCounts()
let held = false

const control = async (path, method) => {
  if (path === '/hold') held = method === 'PUT'
  if (path === '/counts' && method === 'DELETE') counts = noCounts()
  return Response.json(counts)
}

const madeUp = (key, agents) => {
  const [, id, number] = /^card:(agent-(\d{6}))$/.exec(key) ?? []
  const model = values.get(`card:${pattern}`)
  if (id === undefined || Number(number) >= agents || model === undefined) return undefined
  model.text ??= new TextDecoder().decode(model.body)
  return { body: model.text.replaceAll(pattern, id), metadata: model.metadata }
}

const operations = {
  async GET(key, _request, env) {
    counts.get++
    // A timer of its own: workerd takes a request for hung that waits for nothing but another one.
    while (held) await scheduler.wait(1)
    const found = values.get(key) ?? madeUp(key, Number(env.AGENTS ?? 0))
    if (!found) return new Response(null, { status: 404 })
    return new Response(found.body, { headers: found.metadata ? { 'CF-KV-Metadata': found.metadata } : {} })
  },
  async PUT(key, request) {
    counts.put++
    values.set(key, { body: await request.arrayBuffer(), metadata: request.headers.get('CF-KV-Metadata') })
    return new Response(null)
  },
  async DELETE(key) {
    counts.delete++
    values.delete(key)
    return new Response(null)
  },
}

export default {
  fetch(request, env) {
    const { host, pathname } = new URL(request.url)
    if (host !== 'fake-host') return control(pathname, request.method)
    return operations[request.method](decodeURIComponent(pathname.slice(1)), request, env)
  },
}

// A KV namespace with workerd's protocol: GET, PUT and DELETE of /{key}. It stores what is put, and derives card:agent-000001,
// -000002 … below AGENTS from card:agent-000000, so that 100,000 agents do not need 100,000 writes.
// Requests to other hosts than workerd's are for tests: GET /counts returns the counts, DELETE /counts resets them, PUT and DELETE
// of /block block and release reads, so that requests can queue without a sleep.

const pattern = 'agent-000000'
const values = new Map()
const noCounts = () => ({ get: 0, bulk: 0, put: 0, delete: 0 })
let counts = noCounts()
let blocked = false

const control = async (path, method) => {
  if (path === '/block') blocked = method === 'PUT'
  if (path === '/counts' && method === 'DELETE') counts = noCounts()
  return Response.json(counts)
}

const derive = (key, agents) => {
  const [, id, number] = /^card:(agent-(\d{6}))$/.exec(key) ?? []
  const model = values.get(`card:${pattern}`)
  if (id === undefined || Number(number) >= agents || model === undefined) return undefined
  model.text ??= new TextDecoder().decode(model.body)
  return { body: model.text.replaceAll(pattern, id), metadata: model.metadata }
}

const find = (key, env) => values.get(key) ?? derive(key, Number(env.AGENTS ?? 0))

/** Returns the values of up to 100 keys as texts, each with its metadata. */
const readBulk = async (request, env) => {
  const { keys } = await request.json()
  counts.get += keys.length
  counts.bulk++
  while (blocked) await scheduler.wait(1)
  const found = keys.map(key => {
    const { body, metadata } = find(key, env) ?? {}
    const value = typeof body === 'string' ? body : new TextDecoder().decode(body)
    return [key, body === undefined ? null : { value, metadata: JSON.parse(metadata) }]
  })
  return Response.json(Object.fromEntries(found))
}

const operations = {
  POST: (_key, request, env) => readBulk(request, env),
  async GET(key, _request, env) {
    counts.get++
    // workerd aborts a request as hung that waits only for another request, so this waits for a timer.
    while (blocked) await scheduler.wait(1)
    const found = find(key, env)
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

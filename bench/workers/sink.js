// Reads a body and sends an empty response: what a PUT costs the runtime before the host does anything.

export default {
  async fetch(request) {
    await request.arrayBuffer()
    return new Response(null, { status: 204 })
  },
}

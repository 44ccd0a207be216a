// Reads a body and answers nothing: what taking in a PUT costs the runtime before the host does anything.

export default {
  async fetch(request) {
    await request.arrayBuffer()
    return new Response(null, { status: 204 })
  },
}

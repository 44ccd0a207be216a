// The host with a Registry that can be filled and measured from inside: POST /measure/{method} with its arguments as JSON.
// The host gets every other request.

import { createDescriber } from '../registry-agents.ts'
import host, { Registry as HostRegistry } from './index.js'

export { Catalog, Events, McpAgent, RemoteCard, TaskOwners } from './index.js'

/** What the Registry publishes to while it is filled or measured: that is work of other processes. */
const sinks = {
  CARDS: { put: async () => undefined, delete: async () => undefined },
  EVENTS: { getByName: () => ({ append: async () => Number.MAX_SAFE_INTEGER }) },
}

const IN_PARALLEL = 100

/** The statements that write the search index. */
const indexing = /(?:INTO|FROM|UPDATE) (?:internal_)?search(?:_documents)? /

/** The result of a statement that is left out. */
const skipped = { one: () => ({ number: 1 }), toArray: () => [] }

export class Registry extends HostRegistry {
  #isIndexed = true
  #template
  #sql
  #describe = createDescriber()

  constructor(ctx, env) {
    const { sql } = ctx.storage
    const exec = sql.exec.bind(sql)
    sql.exec = (query, ...values) => (this.#isIndexed || !indexing.test(query) ? exec(query, ...values) : skipped)
    super(ctx, ctx.id.equals(env.REGISTRY.idFromName('default')) ? env : { ...env, ...sinks })
    this.#sql = sql
  }

  async register(registration, mayClaim) {
    this.#template = registration
    return super.register(registration, mayClaim)
  }

  template() {
    return this.#template
  }

  /** Registers agents with these numbers. Another `version` makes them new revisions; without the index if `isIndexed` is false. */
  async fill({ from, to, version = 0, isIndexed = true }) {
    this.#template ??= await this.env.REGISTRY.getByName('default').template()
    this.#isIndexed = isIndexed
    for (let first = from; first < to; first += IN_PARALLEL)
      await Promise.all(
        Array.from({ length: Math.min(IN_PARALLEL, to - first) }, (_, index) =>
          super.register(this.#registration(first + index, version), true),
        ),
      )
    this.#isIndexed = true
    return this.#sql.databaseSize
  }

  /** Calls a method of the Registry several times. Returns the length of its last result as JSON. */
  async repeat({ method, argument, times }) {
    let result
    for (let time = 0; time < times; time++) result = await super[method](argument)
    return JSON.stringify(result).length
  }

  /** Reads pages of an export from a cursor. Returns how many rows of a table they have. */
  async export({ cursor, table, pages }) {
    let rows = 0
    for (let [page, next] = [0, cursor]; page < pages && next; page++) {
      const read = await super.exportPage(next)
      rows += read.lines.split(`{"table":"${table}"`).length - 1
      next = read.next
    }
    return rows
  }

  #registration(number, version) {
    const { id, summary, search } = this.#describe(number)
    const template = this.#template
    return {
      ...template,
      id,
      expected: {},
      manifestEtag: `"${number}-${version}"`,
      summary: { ...template.summary, ...summary },
      search: { ...template.search, ...search },
    }
  }
}

export default {
  async fetch(request, env, ctx) {
    const [, method] = /\/measure\/(\w+)$/.exec(request.url) ?? []
    if (method === undefined) return host.fetch(request, env, ctx)
    return Response.json(await env.REGISTRY.getByName('measured')[method](await request.json()))
  },
}

// Stands in for the runtime's module, so that Node can load files that import it.

class Entrypoint {
  ctx: unknown
  env: unknown

  constructor(ctx: unknown, env: unknown) {
    this.ctx = ctx
    this.env = env
  }
}

export class DurableObject extends Entrypoint {}
export class WorkerEntrypoint extends Entrypoint {}

/** Stands in for the runtime's module, so that Node can read files that import it. */
export class DurableObject {
  ctx: unknown
  env: unknown

  constructor(ctx: unknown, env: unknown) {
    this.ctx = ctx
    this.env = env
  }
}
export class WorkerEntrypoint {}

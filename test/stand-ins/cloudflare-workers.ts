/** Stands in for the runtime's module, so that Node can read tables out of files that import it. Nothing of it runs. */
export class DurableObject {}
export class WorkerEntrypoint {}

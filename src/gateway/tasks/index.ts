import { lazyObject } from '../../registry/start.ts'

/** Records which caller started which task and context of the agent whose id is the name of this Durable Object. */
export class TaskOwners extends lazyObject(
  (ctx: DurableObjectState) => import('./owner-store.ts').then(({ createOwnerStore }) => createOwnerStore(ctx.storage)),
  ['use', 'record', 'page', 'openPage', 'clear', 'release', 'alarm'],
) {}

import { lazyObject } from '../../registry/start.ts'

/** Knows who started the tasks and contexts of one agent, whose id is the name of this Durable Object. */
export class TaskOwners extends lazyObject(
  (ctx: DurableObjectState) => import('./owner-store.ts').then(({ OwnerStore }) => new OwnerStore(ctx.storage)),
  ['use', 'record', 'page', 'openPage', 'clear', 'release', 'alarm'],
) {}

// A Worker with the host's classes and none of its code: what a start costs whatever is deployed.

import { DurableObject } from 'cloudflare:workers'

export class Registry extends DurableObject {}
export class RemoteCard extends DurableObject {}
export class McpAgent extends DurableObject {}
export class TaskOwners extends DurableObject {}
export class Events extends DurableObject {}

export default { fetch: () => new Response('empty') }

import type { Drift } from '../card/drift.ts'
import type { CardError } from '../card/report.ts'
import type { Validators } from '../sources/fetched.ts'

/** A fetched card that widens access, kept until an owner accepts it: `card` is its JSON text, `drift` what differs from what is served. */
export type Held = { etag: string; card: string; validators: Validators; widens: CardError[]; drift: Drift }

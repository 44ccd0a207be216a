import type { CardError } from '../../src/card/model/report.ts'
import type { JsonObject } from '../../src/json/json.ts'
import type { AuthoredAt } from './places.ts'

/** What an owner wrote of one agent: all of a file, or an entry of it. */
export type Written = {
  /** The file, and what of it. */
  label: string
  /** As it is registered, but for what it inherits; with the `id`, where one is said. */
  manifest: JsonObject
  authoredAt: AuthoredAt
  /** Whether it is internal only because its front matter does not say that it is exposed. */
  unexposed: boolean
  /** What is wrong with it, and cannot be seen in the manifest. Pointers are into that. */
  errors: CardError[]
}

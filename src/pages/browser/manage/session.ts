import { createContext, useContext } from 'hono/jsx/dom'
import type { JsonObject } from '../../../json/index.ts'
import type { MessageKind } from '../../components/index.ts'
import type { Client, ResponseOf } from '../api/index.ts'
import type { Question } from './controls.tsx'

/** The session in which every view is shown. */
export type Session = Client & {
  grant: ResponseOf<'GET /tokens/self'>
  /** Texts that are not registered yet, by the id of their agent; empty for a new one. */
  drafts: Map<string, Draft>
  /** Shows the view again, or another one, with a message above it. */
  reload: (kind: MessageKind, text: string, address?: string) => void
  /** Asks whether to do something that cannot simply be undone. */
  confirm: (question: Question) => Promise<boolean>
}

/** A manifest that is edited. `before` and `etag` are of the one that is registered, which may be none. */
export type Draft = { id: string; text: string; before?: JsonObject | undefined; etag: string | null }

/** Gives the session to all components of a view. */
export const SessionContext = createContext<Session | undefined>(undefined)

/** Returns the session of the view. */
export const useSession = (): Session => {
  const session = useContext(SessionContext)
  if (!session) throw new Error('There is no session.')
  return session
}

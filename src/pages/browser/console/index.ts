import type { AgentCard } from '../../../card/model/index.ts'
import { isJsonObject, parseJson } from '../../../json/index.ts'
import type { MessageExample } from '../../components/index.ts'
import { callableEndpoints } from './agent.ts'
import { createFields } from './fields.ts'
import { connectForm } from './form.tsx'
import { createSession } from './session.ts'
import { renderConsole } from './view.tsx'

/** What the console does when it is open: it fills the form, moves the focus there, or sends the message. */
export type Wish = MessageExample & { isFocused?: boolean; send?: boolean }

/** Opens the console in its section of a card page, whose form stays. */
export const openConsole = async (section: HTMLElement): Promise<{ fulfill: (wish: Wish) => void }> => {
  const { agent: id = '', origin = '', route = '', example = '{}', skills = '[]' } = section.dataset
  const path = `/agents/${encodeURIComponent(id)}`
  const response = await fetch(`${path}/.well-known/agent-card.json?dialect=1.0`, { credentials: 'omit' })
  if (!response.ok) throw new Error(`The card could not be read: ${response.status}.`)
  const card: AgentCard = await response.json()
  const hostOrigins = [location.origin, origin]
  const isElsewhere = callableEndpoints(card).some(({ url }) => !hostOrigins.includes(new URL(url).origin))
  const isForwarded = route === 'direct' || (route === 'gateway' && isElsewhere)
  const callPath = `${path}/a2a`
  const hostUrl = isForwarded ? `${location.origin}${callPath}` : undefined
  const begun: MessageExample = JSON.parse(example)
  const fields = createFields(card)
  const session = createSession({ card, hostOrigins, callPath, hostUrl, example: begun, fields })
  const body = section.querySelector<HTMLElement>('.console-body') ?? section
  // The response takes the place that the new fields leave.
  body.style.minHeight = `${body.offsetHeight}px`
  connectForm(session, begun, JSON.parse(skills))
  renderConsole({ session, body })
  return {
    fulfill: ({ isFocused, send, ...example }) => {
      if (example.text !== undefined) session.begin(readExample(example.text, example))
      if (isFocused) fields.message.focus()
      if (send) void session.submit()
    },
  }
}

/** Takes a text that is a JSON object for data. */
const readExample = (text: string, example: MessageExample): MessageExample => {
  const parsed = parseJson(text)
  return 'value' in parsed && isJsonObject(parsed.value) ? { ...example, data: parsed.value } : example
}

import type { AgentCard } from '../../../card/model/index.ts'
import { parseUrl } from '../../../http/shared.ts'
import { Hint, type MessageExample, type SkillChoice, shorten } from '../../components/index.ts'
import { continuations, needsPerson, type Settings } from './conversation.ts'
import type { Session } from './session.ts'

/** The most skills, modes, and headers or origins of a card that the form offers. */
const MAX_SKILLS = 200
const MAX_MODES = 24
const MAX_HEADERS = 20

/** Makes the form that the server has rendered send messages. What was typed or chosen in it stays. */
export const connectForm = (session: Session, { skillId }: MessageExample, skills: readonly SkillChoice[]): void => {
  const { message, file, skill } = session.fields
  const typed = message.value === message.defaultValue ? undefined : message.value
  message.form?.addEventListener('submit', event => {
    event.preventDefault()
    void session.submit()
  })
  for (const field of [message, file]) field.addEventListener('input', () => field.setCustomValidity(''))
  const chooseSkill = (skillId: string): void => {
    const data = skills.find(({ id }) => id === skillId)?.data
    if (data === undefined) session.set({ skillId })
    else session.begin({ skillId, data })
  }
  skill?.addEventListener('input', () => chooseSkill(skill.value))
  if (skill && skill.value !== skillId) {
    // Another example must not move the button while a person presses it.
    message.style.blockSize = `${message.getBoundingClientRect().height}px`
    message.addEventListener('input', () => message.style.removeProperty('block-size'), { once: true })
    chooseSkill(skill.value)
  }
  if (typed !== undefined) message.value = typed
  file.disabled = false
}

/** Shows in the form what the session is about. */
export const showForm = ({ state, fields: { message, send, skill } }: Session): void => {
  const { settings, isCalling, turns } = state
  const isData = settings.format === 'data'
  message.dir = isData ? 'ltr' : 'auto'
  message.classList.toggle('console-data', isData)
  const [label] = message.labels
  const isReply = turns[0]?.progress && needsPerson(turns[0].progress)
  if (label) label.textContent = isReply ? 'Your reply' : `Message${isData ? ' (JSON data)' : ''}`
  send.disabled = isCalling
  if (skill) skill.value = settings.skillId
}

/** What the next message continues, where there is a choice. */
export const Continuation = ({ session }: { session: Session }) => {
  const choices = continuations(session.state.turns[0]?.progress)
  return choices.length > 0 ? <Choice session={session} name="continuation" label="" options={choices} /> : null
}

type ChoiceProps = {
  session: Session
  name: keyof Settings
  label: string
  options: readonly (readonly [value: string, label: string])[]
}

const chosenIn = ({ currentTarget }: Event): string => (currentTarget as HTMLInputElement).value

const Choice = ({ session, name, label, options }: ChoiceProps) => (
  <label class="field">
    {label || <span class="visually-hidden">This message</span>}
    <select value={session.state.settings[name]} onInput={event => session.set({ [name]: chosenIn(event) })}>
      {options.map(([value, text]) => (
        <option value={value}>{text}</option>
      ))}
    </select>
  </label>
)

const FORMATS = Object.entries({ text: 'Text', data: 'JSON data' })
const DELIVERIES = Object.entries({ stream: 'as a stream', whole: 'as a whole', poll: 'by polling' })
const ROUTES = Object.entries({ card: 'to its own address', host: 'through this host' })

/** What few people choose. */
export const Options = ({ session }: { session: Session }) => {
  const { card, hostUrl, fields, state } = session
  const skills = state.skills.slice(0, MAX_SKILLS).map(({ id, name }) => [id, shorten(name, 100)] as const)
  const modes = new Set([...card.defaultOutputModes, ...card.skills.flatMap(({ outputModes = [] }) => outputModes)])
  const endpoints = session.endpoints.map(({ binding, version }) => `A2A ${version}, ${binding}`)
  return (
    <>
      <div class="console-grid">
        {!fields.skill && <Choice session={session} name="skillId" label="Skill" options={[['', 'Any'], ...skills]} />}
        <Choice session={session} name="format" label="Format" options={FORMATS} />
        <Choice session={session} name="endpoint" label="Protocol" options={Object.entries(endpoints)} />
        <Choice session={session} name="delivery" label="Response" options={DELIVERIES} />
        {hostUrl !== undefined && <Choice session={session} name="route" label="Send it" options={ROUTES} />}
      </div>
      <label class="field">
        Accepted output modes
        <input
          type="text"
          value={state.settings.modes}
          autocomplete="off"
          autocapitalize="off"
          onInput={event => session.set({ modes: chosenIn(event) })}
        />
        <Hint>Without any, the agent chooses from {shorten([...modes].slice(0, MAX_MODES).join(', '), 500)}.</Hint>
      </label>
    </>
  )
}

/** The fields for a token. Only the page's memory has it: no form contains it. */
export const TokenFields = ({ session }: { session: Session }) => {
  const { card, hostOrigins, endpoints } = session
  const headers = ['Authorization', ...apiKeyHeaders(card)]
  const origins = new Set(endpoints.map(({ url }) => parseUrl(url)?.origin ?? ''))
  const others = [...origins].filter(origin => !hostOrigins.includes(origin)).slice(0, MAX_HEADERS)
  return (
    <>
      <label class="field">
        <span class="visually-hidden">Token</span>
        <input id="token" type="password" autocomplete="off" aria-describedby="token-hint" />
      </label>
      <Hint id="token-hint">
        It is only in this page's memory, and gone when you leave. Each call sends it to{' '}
        {others.length === 0
          ? 'this host.'
          : `${others.join(' or ')}, the agent's own address, unless calls go through this host. Tokens that this ` +
            'host issued never go there. Its ADMIN_TOKEN looks like any other: do not enter it here.'}
      </Hint>
      {headers.length > 1 && (
        <Choice session={session} name="header" label="Send as" options={headers.map(name => [name, name])} />
      )}
      {card.capabilities?.extendedAgentCard && (
        <button type="button" onClick={session.readExtendedCard}>
          Read the extended card
        </button>
      )}
    </>
  )
}

/** Returns the headers in which a card takes API keys, except those that a page must not set or that calls need. */
const apiKeyHeaders = ({ securitySchemes = {} }: AgentCard): string[] => {
  const names = Object.values(securitySchemes)
    .map(({ apiKeySecurityScheme: scheme }) => (scheme?.location === 'header' ? scheme.name : ''))
    .filter(name => /^[\w-]{1,100}$/.test(name) && !/^(?:authorization|content-type|accept|a2a-|x-a2a-)/i.test(name))
  return [...new Set(names)].slice(0, MAX_HEADERS)
}

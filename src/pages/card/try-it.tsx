import { toTarget, wireVersions } from '../../card/model/index.ts'
import { allowsAnonymous } from '../../card/read/index.ts'
import { exampleText, Fold, Message, type MessageExample, ResponsePlace, visibleRows } from '../components/index.ts'
import { assetPath } from '../layout/index.ts'
import type { CardFacts } from './card-facts.ts'
import type { ExampleCall } from './example-call.ts'

const NO_ENDPOINT =
  'This agent has no endpoint that a browser can call: neither JSON-RPC nor HTTP+JSON in A2A ' +
  `${wireVersions.toReversed().join(' or ')}.`

/** The console with an example of a call in it, which src/pages/browser/console makes work. */
export const TryIt = ({ facts, call }: { facts: CardFacts; call: ExampleCall }) => {
  const { id, card, hostOrigin, route } = facts
  const { skillId, part, choices } = call
  const example = { skillId, ...('url' in part ? {} : part) }
  const isOpen = allowsAnonymous(card.securityRequirements)
  const data = { 'data-agent': id, 'data-origin': hostOrigin, 'data-route': route }
  const lists = { 'data-example': JSON.stringify(example), 'data-skills': JSON.stringify(choices) }
  return (
    <section id="console" class="console" aria-labelledby="console-title" {...data} {...lists}>
      <h2 id="console-title">Try it</h2>
      {card.supportedInterfaces.some(toTarget) ? (
        <>
          <p class="message console-needs-scripts">
            The console needs JavaScript. The <code>curl</code> command on this page makes the same call.
          </p>
          <div class="console-body">
            <MessageForm example={example} choices={choices} />
            <Fold class="console-token" title={isOpen ? 'Token' : 'Token (the agent asks for one)'}>
              <p class="muted">The field is being loaded.</p>
            </Fold>
            <div class="console-results">
              <p class="console-status" role="status" />
              <ResponsePlace />
            </div>
          </div>
          <script type="module" src={assetPath('console.js')} />
        </>
      ) : (
        <Message kind="warn">{NO_ENDPOINT}</Message>
      )}
    </section>
  )
}

type MessageFormProps = { example: MessageExample } & Pick<ExampleCall, 'choices'>

/** The form that sends a message. It stays when the console opens, which adds to it: nothing moves. */
const MessageForm = ({ example, choices }: MessageFormProps) => {
  const text = exampleText(example)
  const isData = example.data !== undefined
  return (
    <form class="console-form" novalidate>
      {choices.length > 0 && (
        <div class="field">
          <label for="skill">Skill</label>
          <select id="skill" autocomplete="off">
            {choices.map(({ id, name }) => (
              <option value={id} selected={id === example.skillId}>
                {name}
              </option>
            ))}
          </select>
        </div>
      )}
      <div class="field">
        <div class="console-label">
          <label for="message">{isData ? 'Message (JSON data)' : 'Message'}</label>
        </div>
        <textarea
          id="message"
          class={isData ? 'console-data' : undefined}
          dir={isData ? 'ltr' : 'auto'}
          rows={visibleRows(text)}
          translate="no"
          autocomplete="off"
          placeholder="Write a message"
        >
          {text}
        </textarea>
      </div>
      <p class="console-actions">
        <button id="send" type="submit" class="primary" title="Ctrl+Enter sends the message" disabled>
          Send
        </button>
        <input id="message-file" type="file" aria-label="File" disabled />
      </p>
      <Fold class="console-options" title="Options">
        <p class="muted">The options are being loaded.</p>
      </Fold>
    </form>
  )
}

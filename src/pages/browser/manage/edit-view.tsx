import { useRef, useState } from 'hono/jsx/dom'
import { stringify } from 'yaml'
import { compileDocument } from '../../../card/compile/index.ts'
import { classifyChanges, diffCards, findVersionFinding } from '../../../card/diff/index.ts'
import { asObject, isJsonObject, type JsonObject } from '../../../json/index.ts'
import { MAX_BODY_BYTES } from '../../../limits.ts'
import { type Child, Differences, Hint, Message } from '../../components/index.ts'
import { ApiError, isProblem } from '../api/index.ts'
import { createTimer } from '../dom/index.ts'
import { type Change, type CheckedText, changeText, checkText, Findings } from '../report/index.ts'
import { agentHref } from './agents-view.tsx'
import { Field, Load, type Question, useAction, useLiveState } from './controls.tsx'
import { ManifestEditor } from './manifest-editor.tsx'
import { ClientChanges } from './revisions.tsx'
import { type Draft, type Session, useSession } from './session.ts'
import { describeReceipt } from './wording.ts'

/** The time after the last key, before the host checks a text. */
const TYPING_PAUSE_MS = 600

/** The manifest of an agent, or of a new one, to be edited. */
export const EditView = ({ id = '' }: { id?: string | undefined }) => {
  const session = useSession()
  const read = async (): Promise<Child> => {
    // Read even if there is a draft: a token that cannot read the manifest must not show one made from it.
    const registered = id === '' ? { etag: null } : await readManifest(session, id)
    const text = registered.before ? stringify(registered.before, { lineWidth: 0 }) : STARTER
    const draft = session.drafts.get(id) ?? { id, text, ...registered }
    // Without the schema, only the completion is missing.
    const schema = await fetch('/schema/manifest.json')
      .then(response => response.json())
      .catch(() => undefined)
    return <Editor draft={draft} isNew={id === ''} schema={schema} />
  }
  return <Load read={read} />
}

/** Returns what is registered of an agent, which may have been removed since its text was begun. */
const readManifest = async ({ send }: Session, id: string): Promise<Pick<Draft, 'before' | 'etag'>> => {
  const { body, etag = null } =
    (await send('GET /agents/:id/manifest', { params: { id }, ignore: 'agent-not-found' })) ?? {}
  return { before: isJsonObject(body) ? body : undefined, etag }
}

const STARTER = `# An agent: its Agent Card under \`card\`, and how this host serves it.
card:
  name: My Agent
  # Clients and other agents choose by the description: what the agent does, for whom, and what it needs to know.
  description: What your agent does, for whom, and what it needs to know
  version: 1.0.0
  supportedInterfaces:
    - url: https://my-agent.example.com/a2a
      protocolBinding: JSONRPC
      protocolVersion: "1.0"
  capabilities:
    streaming: false
`

const Editor = ({ draft, isNew, schema }: { draft: Draft; isNew: boolean; schema: JsonObject | undefined }) => {
  const session = useSession()
  const { call, confirm, drafts, reload } = session
  const { run, isBusy, output } = useAction()
  const [checked, setChecked] = useLiveState<CheckedText | undefined>(undefined)
  const input = useRef<HTMLTextAreaElement>(null)
  const [later] = useState(createTimer)
  const key = isNew ? '' : draft.id
  const check = async (): Promise<CheckedText> => {
    const { text } = draft
    const found = await checkText(text, MAX_BODY_BYTES)
    if (text === draft.text) setChecked(found)
    return found
  }
  const write = (text: string): void => {
    draft.text = text
    drafts.set(key, draft)
    later(check, TYPING_PAUSE_MS)
  }
  const fix = (change: Change): void => {
    const text = changeText(draft.text, [change])
    if (text === undefined || !input.current) return
    input.current.value = text
    write(text)
  }
  const review = run(async () => {
    const { result, value } = await check()
    if (!result?.valid) return input.current?.focus()
    const manifest = asObject(value)
    const { id, before, etag } = draft
    const review = reviewChanges(id, manifest, before)
    const title = before ? `Register these changes of ${id}?` : `Register the new agent ${id}?`
    if (!(await confirm({ title, action: 'Register', ...review }))) return
    const receipt = await call('PUT /agents/:id', { params: { id }, body: manifest, etag }).catch(explain)
    drafts.delete(key)
    reload('good', describeReceipt(receipt), agentHref(id))
  })
  /** Rejects with what to do if the agent was changed concurrently; the next review is about what is registered now. */
  const explain = async (error: unknown): Promise<never> => {
    if (!isProblem(error, 'precondition-failed')) throw error
    if (!isNew) Object.assign(draft, await readManifest(session, draft.id))
    throw new ApiError({ body: { detail: isNew ? TAKEN : CONFLICT } })
  }
  return (
    <form class="edit" aria-busy={isBusy} onSubmit={review}>
      {isNew && (
        <Field
          name="id"
          label="Id"
          hint="Lower-case letters, digits and hyphens. It is in the addresses of the agent, and does not change."
          required
          pattern="[a-z0-9][a-z0-9\-]{0,62}"
          value={draft.id}
          onInput={(event: Event) => {
            draft.id = (event.target as HTMLInputElement).value
          }}
        />
      )}
      <label for="manifest">Manifest</label>
      <ManifestEditor text={draft.text} schema={schema} input={input} onChange={write} />
      <Hint id="manifest-hint">
        YAML or JSON. <kbd>Ctrl</kbd>+<kbd>Space</kbd> completes it. Nothing is registered before you have reviewed it.
      </Hint>
      <div class="actions">
        <button type="submit" class="primary">
          Review changes
        </button>
        <a class="button" href={isNew ? '#agents' : agentHref(draft.id)}>
          Back
        </a>
      </div>
      {output}
      <div role="status">{checked && <Message kind={checked.kind}>{checked.headline}</Message>}</div>
      {checked && checked.marks.length > 0 && <Findings {...checked} input={input.current} onFix={fix} />}
    </form>
  )
}

const CONFLICT =
  'The agent was changed concurrently, so nothing was registered. Your text is still here. Review it again: it is ' +
  'compared with what is registered now.'

const TAKEN =
  'An agent with this id exists already, so nothing was registered. Your text is still here. Choose another id.'

/** Returns what a manifest would change, as `sync-card --dry-run` finds it: in the manifest, and for clients. */
const reviewChanges = (id: string, after: JsonObject, before: JsonObject | undefined): Review => {
  if (!before) return { content: <p>{FIRST}</p>, isSafe: true }
  const differences = diffCards(before, after)
  if (differences.length === 0) return { content: <p>Nothing differs from what is registered.</p>, isSafe: true }
  const { content, isSafe } = reviewEffect(id, before, after)
  const all = [content, <Differences title="What differs in the manifest" open differences={differences} />]
  return { content: all, isSafe }
}

type Review = Pick<Question, 'content' | 'isSafe'>

const FIRST = 'Clients can find it once it is registered. You can change and remove it at any time.'

const reviewEffect = (id: string, before: JsonObject, after: JsonObject): Review => {
  const [earlier, later] = [before, after].map(each => compileDocument(each, { id, requestOrigin: location.origin }))
  // The host fetches a remote card, and checks it then.
  if (!earlier || !later || !('compiled' in earlier && 'compiled' in later))
    return { content: <p>What that changes for clients is known after the host has fetched the card.</p>, isSafe: true }
  const effect = classifyChanges(earlier.compiled, later.compiled)
  const { compatibility } = later.compiled.manifest
  const isEnforced = compatibility === 'enforce'
  const [from, to] = [earlier, later].map(({ compiled }) => compiled.card.version)
  const finding = compatibility !== 'off' && findVersionFinding(effect.class, from ?? '', to ?? '')
  const content = (
    <>
      <ClientChanges {...effect} />
      {finding && (
        <Message kind="warn">
          The version {isEnforced ? finding.message : finding.message.replace('must', 'should')}.
          {isEnforced && ' The host refuses this change without it.'}
        </Message>
      )}
    </>
  )
  return { content, isSafe: effect.class !== 'breaking' }
}

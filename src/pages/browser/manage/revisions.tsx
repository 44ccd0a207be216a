import { Differences, List, Message, Pointer } from '../../components/index.ts'
import { isProblem, type ResponseOf } from '../api/index.ts'
import { Action, Paged, prose, Time, useFocus, useLiveState } from './controls.tsx'
import { useSession } from './session.ts'
import { CLASS_MEANINGS, describeReceipt, describeRevision } from './wording.ts'

type Revision = ResponseOf<'GET /agents/:id/revisions'>['revisions'][number]
type Comparison = ResponseOf<'GET /agents/:id/revisions/:seq/diff'>

/** An agent with a history. A removed one has no manifest, and `null` for its entity tag. */
type Owner = { id: string; etag?: string | null | undefined }

/** The history of an agent: what each revision changed, who made it, and the way back to it. */
export const Revisions = ({ id, etag }: Owner) => {
  const { pages } = useSession()
  return (
    <section class="panel" aria-label="Revisions">
      <h3>Revisions</h3>
      <Paged
        open={() => pages('GET /agents/:id/revisions', { params: { id }, query: { limit: 20 } })}
        itemsOf={({ revisions }) => revisions}
        class="revisions"
      >
        {(revision, newest) => <RevisionItem owner={{ id, etag }} revision={revision} newest={newest} />}
      </Paged>
    </section>
  )
}

const ClassBadge = ({ name }: { name: keyof typeof CLASS_MEANINGS }) => (
  <span class={`badge class-${name}`}>{name}</span>
)

type RevisionProps = { revision: Revision; owner: Owner; newest: Revision }

const RevisionItem = ({ revision, owner: { id, etag }, newest }: RevisionProps) => {
  const { call, confirm, reload } = useSession()
  const [comparison, setComparison] = useLiveState<Comparison | undefined>(undefined)
  const { seq, by, created, class: changeClass, drift = [] } = revision
  const readDiff = (to: number, from?: number): Promise<Comparison> =>
    call('GET /agents/:id/revisions/:seq/diff', { params: { id, seq: to }, query: { from } })
  const compare = (to: number, from?: number) => async () => setComparison(await readDiff(to, from))
  const rollBack = async (): Promise<void> => {
    // A removal has no card, nor has a revision whose remote card was never fetched.
    const effect = await readDiff(seq, newest.seq).catch((error: unknown): undefined => {
      if (!isProblem(error, 'revision-without-card')) throw error
    })
    const content = (
      <>
        <p>
          This registers the manifest of revision {seq} again, as a new revision. Nothing is deleted, and you can go
          back from there. The card of a remote agent is fetched again.
        </p>
        {effect ? <ClientChanges {...effect} /> : newest.by === 'removal' ? WAS_REMOVED : HAS_NO_CARD}
      </>
    )
    const action = `Go back to revision ${seq}`
    if (!(await confirm({ title: `${action} of ${id}?`, content, action }))) return
    const options = { params: { id }, body: { seq }, ...(etag !== undefined && { etag }) }
    reload('good', describeReceipt(await call('POST /agents/:id/rollback', options)))
  }
  const canReturn = seq !== newest.seq && by !== 'removal'
  const canCompare = canReturn && newest.by !== 'removal'
  const about = `revision ${seq}`
  return (
    <li class={changeClass}>
      <h4>
        Revision {seq} {changeClass && <ClassBadge name={changeClass} />}{' '}
        {seq === newest.seq && <span class="badge">newest</span>}
      </h4>
      <p class="muted">
        {prose(describeRevision(revision))} · <Time at={created} />
      </p>
      <Differences title="What changed in the fetched card" differences={drift} />
      <div class="actions">
        {changeClass && <Action label="What it changed" about={`in ${about}`} act={compare(seq)} />}
        {canCompare && <Action label="What changed since" about={about} act={compare(newest.seq, seq)} />}
        {canReturn && <Action label="Go back to this" about={about} act={rollBack} />}
      </div>
      {comparison && <ComparisonView key={`${comparison.from} ${comparison.to}`} {...comparison} />}
    </li>
  )
}

const WAS_REMOVED = 'The agent was removed: clients can find it again.'
const HAS_NO_CARD = 'What that changes for clients is not known, because one of the two revisions has no card.'

/** What a change of a card means for clients. */
export const ClientChanges = ({ changes, class: changeClass }: Pick<Comparison, 'changes' | 'class'>) => {
  if (changes.length === 0) return <p>Clients get the same card as now.</p>
  return (
    <>
      <Message kind={changeClass === 'breaking' ? 'bad' : 'info'}>
        For clients, the change is {changeClass}: {CLASS_MEANINGS[changeClass]}
      </Message>
      <List
        items={changes.map(({ class: name, message, pointer, tier }) => (
          <>
            <ClassBadge name={name} /> {prose(message)} <Pointer pointer={pointer} />
            {tier !== undefined && ` (extended card of the tier ${tier})`}
          </>
        ))}
      />
    </>
  )
}

const ComparisonView = ({ from, to, class: changeClass, changes, manifest }: Comparison) => (
  <>
    <h5 ref={useFocus<HTMLHeadingElement>()} tabindex={-1}>
      From revision {from} to {to}: {changeClass}
    </h5>
    <ClientChanges changes={changes} class={changeClass} />
    <Differences title="What changed in the manifest" differences={manifest} />
  </>
)

import { findingsOf } from '../files/findings.ts'
import type { Host, Refused, SourceState, Stored } from '../host/host.ts'
import type { Result } from './outcome.ts'
import { comparable, plan, type Step } from './plan.ts'

/** How often a replacement is tried against somebody who writes at the same time. */
const attempts = 3

/**
 * Sends what a step has to send, if the host still has what the step saw. Where somebody wrote meanwhile, nothing is
 * overwritten unless `force`; where it was this very manifest (an answer was lost), that is a success.
 */
export const push = async (host: Host, step: Step, force: boolean): Promise<Result> => {
  const { draft } = step
  let etag = step.etag
  for (let attempt = 1; ; attempt++) {
    const answer = await host.put(draft.id, draft.manifest, etag)
    if (!('refused' in answer)) return { ...resultOf(step), action: doneAction(step, answer), ...storedResult(answer) }
    if (answer.refused !== 'changed' || attempt === attempts) return refusedResult(step, answer)
    const now = await host.registered(draft.id)
    if (now && 'refused' in now) return refusedResult(step, now)
    if (!force && plan(draft, now).todo !== 'nothing')
      return {
        ...resultOf(step),
        action: 'changed meanwhile',
        detail: now ? 'somebody else wrote it after it was read' : 'somebody else deleted it after it was read',
        change: { before: step.before ?? {}, after: now ? comparable(now.manifest) : {} },
      }
    etag = now?.etag
  }
}

/** What a host made of a manifest: of one that it had already, perhaps another card. */
const doneAction = ({ todo }: Step, { changed }: Stored) =>
  todo === 'create' ? 'created' : todo === 'update' || changed ? 'updated' : 'unchanged'

/** What a step says of its file, before anything is done. */
export const resultOf = ({ draft, todo, before, source }: Step): Omit<Result, 'action'> => ({
  file: draft.file,
  id: draft.id,
  ...(draft.unexposed && { unexposed: true }),
  ...(source && source.state !== 'fresh' && { source: sourceText(source) }),
  ...(draft.compiled && { findings: findingsOf(draft) }),
  ...(todo === 'update' && before && { change: { before, after: comparable(draft.manifest) } }),
})

/** A refusal by the host, with its errors at their places in the file. */
export const refusedResult = (step: Step, { refused, detail, errors }: Refused): Result => ({
  ...resultOf(step),
  action: refused === 'forbidden' ? 'forbidden' : refused === 'changed' ? 'changed meanwhile' : 'refused',
  detail,
  ...(errors.length > 0 && { problems: errors.map(error => step.draft.places.problem(error)) }),
})

const storedResult = ({ seq, etags, urls, root, published, source }: Stored): Partial<Result> => ({
  ...(seq !== undefined && { seq }),
  ...(etags['agent-card.json'] !== undefined && { etag: etags['agent-card.json'] }),
  ...(urls.card !== undefined && { url: urls.card }),
  ...(root && { root }),
  ...(!published && { published }),
  ...(source && source.state !== 'fresh' && { source: sourceText(source) }),
  ...(source &&
    source.notes.length > 0 && { notes: source.notes.map(({ pointer, message }) => `${pointer} ${message}`) }),
})

/** What an owner is told of a card that comes from elsewhere, and did not come. */
const sourceText = ({ state, failure }: SourceState): string => {
  if (state === 'held') return 'its source has a card that widens access: sync-card refresh shows it'
  const served = state === 'stale' ? 'the card that came before is served' : 'there is no card to serve yet'
  return `${served}, and the host goes on trying. ${failure?.message ?? ''}`.trimEnd()
}

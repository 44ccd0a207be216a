import { type Compiled, compile } from '../../src/card/compile/index.ts'
import { classifyChanges, findVersionFinding, type Offer } from '../../src/card/diff/index.ts'
import { formatCount } from '../terminal.ts'
import type { Step } from './plan.ts'
import type { AgentResult } from './result.ts'

/**
 * Returns what an update would change for clients, and whether the host would refuse it for its version. That is known only where both
 * manifests have the whole card: the host fetches remote ones.
 */
export const foreseeUpdate = (
  { draft, todo, before }: Step,
  origin: string,
): Partial<Pick<AgentResult, 'action' | 'detail'>> => {
  const { id, compiled } = draft
  if (todo !== 'update' || !before || !compiled) return {}
  const registered = compile({ ...before, id }, { id, requestOrigin: origin })
  if (!('compiled' in registered)) return {}
  const { class: changeClass, changes } = classifyChanges(toOffer(registered.compiled), toOffer(compiled))
  const [first, ...others] = changes
  if (!first || changeClass === 'cosmetic') return {}
  const { compatibility } = compiled.manifest
  const finding = findVersionFinding(changeClass, registered.compiled.card.version, compiled.card.version)
  const isRefused = finding && compatibility === 'enforce'
  const rest = others.length === 0 ? '' : `, and ${formatCount(others.length, 'other change')}`
  return {
    ...(isRefused && { action: 'refused' }),
    detail:
      finding && compatibility !== 'off'
        ? `the version ${finding.message}: ${first.message}`
        : `${changeClass}: ${first.message}${rest}`,
  }
}

const toOffer = ({ card, manifest, extended }: Compiled): Offer => ({ card, manifest, tiers: extended })

import { html } from 'hono/html'
import type { Html } from '../layout/index.ts'

/** The filters of the page, which are parameters of the search, and their labels. */
const labels = {
  tag: 'Tag',
  capability: 'Capability',
  inputMode: 'Accepts',
  outputMode: 'Produces',
  protocolVersion: 'A2A version',
} as const

export type FacetName = keyof typeof labels

export const facetNames = Object.keys(labels) as FacetName[]

/** Values that a group shows before it is opened further. */
const MAX_SHOWN = 8

/** The capabilities in words; the search compares values in lower case. */
const capabilityLabels: ReadonlyMap<string, string> = new Map([
  ['streaming', 'Streaming'],
  ['pushnotifications', 'Push notifications'],
  ['extendedagentcard', 'Extended card'],
  ['multiturn', 'Multi-turn'],
  ['statetransitionhistory', 'State history'],
])

type FacetValue = { value: string; count?: number }

/**
 * Returns the filters as check boxes: the most frequent values among the agents found, and those that are chosen already. Hidden where
 * there is nothing to filter by.
 */
export const renderFilters = (
  search: URLSearchParams,
  facets: Partial<Record<FacetName, FacetValue[]>>,
  isApproximate = false,
): Html => {
  const chosen = facetNames.reduce((sum, name) => sum + search.getAll(name).length, 0)
  const groups = facetNames.map(name =>
    renderGroup(name, valuesOf(search.getAll(name), facets[name] ?? []), search, isApproximate),
  )
  return html`<details id="filters" class="catalog-filters"${groups.every(group => group === '') ? html` hidden` : ''}>
<summary>Filters${chosen > 0 ? ` (${chosen})` : ''}</summary>
<div class="filter-groups">
${groups}
</div>
<p><button>Apply</button> <a href="/agents">Clear all</a></p>
</details>`
}

/** The chosen values come first: each must be there to be removed. */
const valuesOf = (chosen: readonly string[], found: readonly FacetValue[]): FacetValue[] => {
  const known = new Map(found.map(each => [each.value, each]))
  const first = [...new Set(chosen)].map(value => known.get(value.toLowerCase()) ?? { value })
  return [...new Set([...first, ...found])]
}

const renderGroup = (
  name: FacetName,
  values: readonly FacetValue[],
  search: URLSearchParams,
  isApproximate: boolean,
): Html | '' => {
  if (values.length === 0) return ''
  const chosen = new Set(search.getAll(name).map(value => value.toLowerCase()))
  const boxes = values.map(
    ({ value, count }) => html`<li><label>
<input type="checkbox" name="${name}" value="${value}"${chosen.has(value.toLowerCase()) ? html` checked` : ''}>
<span dir="auto">${(name === 'capability' && capabilityLabels.get(value)) || value}</span>${count === undefined ? '' : html` <span class="muted">${count}${isApproximate ? '+' : ''}</span>`}
</label></li>`,
  )
  const rest = boxes.slice(MAX_SHOWN)
  return html`<fieldset><legend>${labels[name]}</legend>
<ul>${boxes.slice(0, MAX_SHOWN)}</ul>
${rest.length === 0 ? '' : html`<details><summary>${rest.length} more</summary><ul>${rest}</ul></details>`}
</fieldset>`
}

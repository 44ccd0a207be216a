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

type FacetName = keyof typeof labels

/** The names of the filters. */
export const facetNames = Object.keys(labels) as FacetName[]

type Facet = { value: string; count?: number }

/** The most frequent values among the agents found. */
export type Facets = Partial<Record<FacetName, Facet[]>>

const MAX_SHOWN = 8

/** The capabilities in words; the search compares values in lower case. */
const capabilityLabels: ReadonlyMap<string, string> = new Map([
  ['streaming', 'Streaming'],
  ['pushnotifications', 'Push notifications'],
  ['extendedagentcard', 'Extended card'],
  ['multiturn', 'Multi-turn'],
  ['statetransitionhistory', 'State history'],
])

/** Returns the name of a capability for people. */
export const labelCapability = (name: string): string => capabilityLabels.get(name.toLowerCase()) ?? name

/** Returns the filters as check boxes, also for chosen values. Hidden if there is nothing to filter by. */
export const renderFilters = (search: URLSearchParams, facets: Facets, isApproximate = false): Html => {
  const chosen = facetNames.flatMap(name => search.getAll(name)).length
  const groups = facetNames.map(name => renderGroup(name, search.getAll(name), facets[name] ?? [], isApproximate))
  return html`<details id="filters" class="catalog-filters"${groups.every(group => !group) && html` hidden`}>
<summary>Filters${chosen > 0 && ` (${chosen})`}</summary>
<div class="filter-groups">
${groups}
</div>
<p><button>Apply</button> <a href="/agents">Clear all</a></p>
</details>`
}

const renderGroup = (name: FacetName, chosen: readonly string[], found: readonly Facet[], isApproximate: boolean) => {
  const known = new Map(found.map(each => [each.value, each]))
  // The chosen values come first: each must be there to be removed.
  const first = [...new Set(chosen)].map(value => known.get(value.toLowerCase()) ?? { value })
  const isChosen = new Set(chosen.map(value => value.toLowerCase()))
  const boxes = [...new Set([...first, ...found])].map(({ value, count }) => {
    const checked = isChosen.has(value.toLowerCase()) && html` checked`
    const label = name === 'capability' ? labelCapability(value) : value
    const shown = count !== undefined && html` <span class="muted">${count}${isApproximate && '+'}</span>`
    return html`<li><label>
<input type="checkbox" name="${name}" value="${value}"${checked}>
<span dir="auto">${label}</span>${shown}
</label></li>`
  })
  const rest = boxes.slice(MAX_SHOWN)
  const more = html`<details><summary>${rest.length} more</summary><ul>${rest}</ul></details>`
  if (boxes.length === 0) return false
  return html`<fieldset><legend>${labels[name]}</legend>
<ul>${boxes.slice(0, MAX_SHOWN)}</ul>
${rest.length > 0 && more}
</fieldset>`
}

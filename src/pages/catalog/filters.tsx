import { Fold } from '../components/index.ts'
import { type FacetName, type Facets, facetLabels, facetNames, labelCapability } from './facets.ts'

const MAX_SHOWN = 8

type FiltersProps = { search: URLSearchParams; facets: Facets; isApproximate?: boolean | undefined }

/** The filters as check boxes, also for chosen values. Hidden if there is nothing to filter by. */
export const Filters = ({ search, facets, isApproximate = false }: FiltersProps) => {
  const groups = facetNames.map(name => ({ name, boxes: boxesOf(search.getAll(name), facets[name] ?? []) }))
  const chosen = facetNames.flatMap(name => search.getAll(name)).length
  return (
    <details id="filters" class="catalog-filters" hidden={groups.every(({ boxes }) => boxes.length === 0)}>
      <summary>Filters{chosen > 0 && ` (${chosen})`}</summary>
      <div class="filter-groups">
        {groups.map(({ name, boxes }) => boxes.length > 0 && <Group {...{ name, boxes, isApproximate }} />)}
      </div>
      <p>
        <button type="submit">Apply</button> <a href="/agents">Clear all</a>
      </p>
    </details>
  )
}

type Box = { value: string; count?: number; isChosen: boolean }

/** Returns the boxes of a filter. The chosen values come first: each must be there to be removed. */
const boxesOf = (chosen: readonly string[], found: NonNullable<Facets[FacetName]>): Box[] => {
  const known = new Map(found.map(each => [each.value, each]))
  const first = [...new Set(chosen)].map(value => known.get(value.toLowerCase()) ?? { value })
  const isChosen = new Set(chosen.map(value => value.toLowerCase()))
  return [...new Set([...first, ...found])].map(each => ({ ...each, isChosen: isChosen.has(each.value.toLowerCase()) }))
}

type GroupProps = { name: FacetName; boxes: readonly Box[]; isApproximate: boolean }

const Group = ({ name, boxes, isApproximate }: GroupProps) => {
  const items = boxes.map(({ value, count, isChosen }) => (
    <li>
      <label title={value}>
        <input type="checkbox" name={name} value={value} checked={isChosen} />
        <span dir="auto">{name === 'capability' ? labelCapability(value) : value}</span>
        {count !== undefined && (
          <span class="muted">
            {count}
            {isApproximate && '+'}
          </span>
        )}
      </label>
    </li>
  ))
  const rest = items.slice(MAX_SHOWN)
  return (
    <fieldset>
      <legend>{facetLabels[name]}</legend>
      <ul>{items.slice(0, MAX_SHOWN)}</ul>
      {rest.length > 0 && (
        <Fold title={`${rest.length} more`}>
          <ul>{rest}</ul>
        </Fold>
      )}
    </fieldset>
  )
}

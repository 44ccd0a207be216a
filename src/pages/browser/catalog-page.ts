import { byId, handleSearch } from './dom/index.ts'

/** Milliseconds without a key after which the page searches. */
const PAUSE_MS = 200

const form = byId('search', HTMLFormElement)
const results = byId('results', HTMLElement)

/** Replaces results and filters by those of another search; what the host renders is escaped. */
const show = (text: string): void => {
  const received = new DOMParser().parseFromString(text, 'text/html')
  const fresh = received.getElementById('results')
  const [count, freshCount] = [results.firstElementChild, fresh?.firstElementChild]
  const filters = received.querySelector<HTMLDetailsElement>('details#filters')
  if (!fresh || !count || !freshCount || !filters) throw new Error('The response is no page of results.')
  // The count stays: screen readers announce changes only of an existing element.
  for (const name of ['class', 'role']) count.setAttribute(name, freshCount.getAttribute(name) ?? '')
  count.textContent = freshCount.textContent
  freshCount.remove()
  results.replaceChildren(count, ...document.adoptNode(fresh).childNodes)
  showFilters(document.adoptNode(filters))
  document.title = received.title
}

/** Replaces the filters. The box of the same filter has the focus again. */
const showFilters = (fresh: HTMLDetailsElement): void => {
  const old = byId('filters', HTMLDetailsElement)
  const focused = old.querySelector<HTMLInputElement>('input:focus')
  fresh.open = old.open
  old.replaceWith(fresh)
  for (const box of fresh.querySelectorAll('input'))
    if (box.name === focused?.name && box.value === focused.value) box.focus()
}

// A wide page shows the filters even while they are closed: then they are open for screen readers, too.
if (matchMedia('(min-width: 60rem)').matches) byId('filters', HTMLDetailsElement).open = true

let pending: AbortController | undefined

const search = async (): Promise<void> => {
  pending?.abort()
  pending = new AbortController()
  const { signal } = pending
  const fields = [...new FormData(form)].filter(([, value]) => value !== '') as [string, string][]
  const url = fields.length === 0 ? '/agents' : `/agents?${new URLSearchParams(fields)}`
  try {
    const response = await fetch(url, { headers: { Accept: 'text/html' }, signal })
    show(await response.text())
    history.replaceState(null, '', url)
  } catch {
    // Another search has begun, or the network is away: then the button still works.
  }
}

handleSearch(form, PAUSE_MS, search)

/** Milliseconds without a key after which the page searches. */
const PAUSE_MS = 200

const form = document.querySelector<HTMLFormElement>('form.catalog')

/** Returns the address of the search that the form describes. */
const searchUrl = (form: HTMLFormElement): string => {
  const fields = [...new FormData(form)].filter(([, value]) => value !== '') as [string, string][]
  return fields.length === 0 ? '/agents' : `/agents?${new URLSearchParams(fields)}`
}

/** Replaces results and filters by those of another search; what the host renders is escaped. */
const show = (text: string): void => {
  const received = new DOMParser().parseFromString(text, 'text/html')
  const pair = (id: string) => [document.getElementById(id), received.getElementById(id)] as const
  showResults(...pair('results'))
  showFilters(...pair('filters'))
  document.title = received.title
}

/** Replaces the results after their count, which stays: screen readers announce changes of an element that was there before. */
const showResults = (old: HTMLElement | null, fresh: HTMLElement | null): void => {
  const [count, freshCount] = [old?.firstElementChild, fresh?.firstElementChild]
  if (!old || !fresh || !count || !freshCount) return
  for (const name of ['class', 'role']) count.setAttribute(name, freshCount.getAttribute(name) ?? '')
  count.textContent = freshCount.textContent
  freshCount.remove()
  while (count.nextSibling) count.nextSibling.remove()
  old.append(...document.adoptNode(fresh).childNodes)
}

const showFilters = (old: HTMLElement | null, fresh: HTMLElement | null): void => {
  if (!(old instanceof HTMLDetailsElement && fresh instanceof HTMLDetailsElement)) return
  fresh.open = old.open
  const focused = document.activeElement
  const isInside = focused instanceof HTMLInputElement && old.contains(focused)
  old.replaceWith(document.adoptNode(fresh))
  if (isInside) focusBox(focused)
}

/** Keyboards stay where they were: the box of the same filter has the focus again. */
const focusBox = ({ name, value }: HTMLInputElement): void => {
  const boxes = document.querySelectorAll<HTMLInputElement>('#filters input')
  for (const box of boxes) if (box.name === name && box.value === value) box.focus()
}

// A wide page shows the filters even while they are closed: then they are open for screen readers, too.
const filters = document.getElementById('filters')
if (filters instanceof HTMLDetailsElement && matchMedia('(min-width: 60rem)').matches) filters.open = true

if (form) {
  let timer: number | undefined
  let pending: AbortController | undefined

  const search = async (): Promise<void> => {
    pending?.abort()
    pending = new AbortController()
    const { signal } = pending
    const url = searchUrl(form)
    try {
      const response = await fetch(url, { headers: { Accept: 'text/html' }, signal })
      const text = await response.text()
      if (signal.aborted) return
      show(text)
      history.replaceState(null, '', url)
    } catch {
      // Another search has begun, or the network is away: then the button still works.
    }
  }

  form.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(search, PAUSE_MS)
  })
  form.addEventListener('submit', event => {
    event.preventDefault()
    clearTimeout(timer)
    void search()
  })
}

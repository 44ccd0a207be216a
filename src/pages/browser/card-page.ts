import { byId, enableCopying } from './dom/index.ts'

const announce = (text: string): void => {
  byId('status', HTMLElement).textContent = text
}

let requested = 0

/** Shows another representation without loading the page again. The host has escaped it; the parser runs no scripts. */
const showView = async (url: URL): Promise<void> => {
  requested += 1
  const request = requested
  const current = document.getElementById('document')
  current?.setAttribute('aria-busy', 'true')
  const response = await fetch(url, { headers: { Accept: 'text/html' } })
  const next = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('document')
  if (!response.ok || !next) throw new Error(`no representation: ${response.status}`)
  if (request !== requested) return
  current?.replaceWith(document.adoptNode(next))
  announce(`The card in ${next.querySelector('[aria-current]')?.textContent ?? 'another representation'}`)
}

let shownQuery = location.search

const changeView = (url: URL): Promise<void> => {
  shownQuery = url.search
  return showView(url).catch(() => location.reload())
}

document.addEventListener('click', event => {
  if (!(event.target instanceof Element)) return
  const link = event.target.closest<HTMLAnchorElement>('#document .views a')
  // Other clicks open another tab or window.
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  const url = new URL(link.href)
  history.pushState(null, '', url)
  void changeView(url).then(() => document.querySelector<HTMLElement>('#document .views [aria-current]')?.focus())
})

enableCopying()

addEventListener('popstate', () => {
  const url = new URL(location.href)
  // A link to a part of this page, too, is an entry of the history.
  if (url.search !== shownQuery) void changeView(url)
})

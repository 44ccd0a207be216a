import type { Wish } from './console/index.ts'
import { enableButtons, retryImport } from './dom/index.ts'

// Opens the console of a card page when a person first touches it, clicks an example, or has `#console` in the address.

const section = document.getElementById('console')
let opening: Promise<{ fulfill: (wish: Wish) => void }> | undefined

const load = retryImport(() => import('./console/index.ts'))

const open = async (wish: Wish = {}): Promise<void> => {
  if (!section) return
  if (wish.send) announce('Loading …')
  opening ??= load().then(({ openConsole }) => openConsole(section))
  const current = opening
  try {
    const opened = await current
    opened.fulfill(wish)
  } catch (error) {
    console.error(error)
    if (opening === current) opening = undefined
    const button = createButton({ textContent: 'Try again', onclick: () => void open(wish) })
    announce('The console could not be loaded. Check the connection, then try again. ', button)
  }
}

const announce = (...content: (string | Node)[]): void =>
  section?.querySelector('[role="status"]')?.replaceChildren(...content)

const createButton = (properties: Partial<HTMLButtonElement>): HTMLButtonElement =>
  Object.assign(document.createElement('button'), { type: 'button' }, properties)

/** An example is a text until there is a script that can send it. */
const makeButton = (example: HTMLElement): void => {
  const button = createButton({ className: 'example', dir: 'auto', textContent: example.textContent })
  Object.assign(button.dataset, example.dataset)
  example.replaceWith(button)
}

const openIfNamed = (): void => void (location.hash === '#console' && open({ isFocused: true }))

document.addEventListener('click', ({ target }) => {
  const example = target instanceof Element && target.closest<HTMLElement>('button.example')
  if (!example) return
  const { textContent: text, dataset } = example
  const message = section?.querySelector('textarea')
  // The text is there at once, and stays if the console cannot be loaded.
  if (message && text !== null) message.value = text
  message?.focus()
  message?.scrollIntoView({ block: 'center' })
  void open({ text: text ?? '', isFocused: true, ...(dataset.skill !== undefined && { skillId: dataset.skill }) })
})

if (section) {
  for (const example of document.querySelectorAll<HTMLElement>('.example')) makeButton(example)
  section.addEventListener('submit', event => {
    if (event.defaultPrevented) return
    event.preventDefault()
    void open({ send: true })
  })
  section.addEventListener('keydown', ({ target, key, ctrlKey, metaKey }) => {
    const isMessage = target instanceof HTMLTextAreaElement
    if (isMessage && key === 'Enter' && (ctrlKey || metaKey)) target.form?.requestSubmit()
  })
  enableButtons(section)
  for (const type of ['pointerenter', 'pointerdown']) section.addEventListener(type, () => open(), { once: true })
  section.addEventListener('focusin', () => void (opening ?? open()))
  addEventListener('hashchange', openIfNamed)
  openIfNamed()
}

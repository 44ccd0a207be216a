/** What an element can have within it. */
export type Child = Node | string

/** The attributes of an element by their names. */
export type Attributes = Readonly<Record<string, string>>

/** Creates an element; texts among its children are never read as HTML. */
export const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] => {
  const created = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) created.setAttribute(attribute, value)
  created.append(...children)
  return created
}

/** Returns the element of a page with this id. Throws if the page has no such element: script and page are of one build. */
export const byId = <Type extends HTMLElement>(id: string, type: new () => Type): Type => {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(`The page has no ${type.name} #${id}.`)
  return found
}

const CONFIRMED_MS = 2000

/** The labels of buttons that show a confirmation. */
const labels = new WeakMap<HTMLButtonElement, string>()

/** Copies a text, and confirms it for a moment on the button that was pressed. Returns whether the browser allows it. */
export const copyText = async (button: HTMLButtonElement, text: string): Promise<boolean> => {
  const label = labels.get(button) ?? button.textContent
  labels.set(button, label)
  const isCopied = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  )
  button.textContent = isCopied ? 'Copied' : 'Not copied'
  setTimeout(() => {
    button.textContent = label
  }, CONFIRMED_MS)
  return isCopied
}

/** Copies a text when a button is pressed, which screen readers announce. */
export const copyOnClick = (button: HTMLButtonElement, text: () => string): void => {
  button.setAttribute('aria-live', 'polite')
  button.addEventListener('click', () => void copyText(button, text()))
}

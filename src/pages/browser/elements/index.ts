type Child = Node | string

/** Creates an element; texts among its children are never read as HTML. */
export const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] => {
  const created = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) created.setAttribute(attribute, value)
  created.append(...children)
  return created
}

/** Returns the element of a page with this id. Throws if there is none: script and page are of one build. */
export const byId = <Type extends HTMLElement>(id: string, type: new () => Type): Type => {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(`The page has no ${type.name} #${id}.`)
  return found
}

/** Copies a text when a button is pressed, and confirms it on the button for a moment. */
export const copyOnClick = (button: HTMLButtonElement, text: () => string): void => {
  const label = button.textContent
  button.setAttribute('aria-live', 'polite')
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(text()).then(
      () => true,
      () => false,
    )
    button.textContent = copied ? 'Copied' : 'The browser does not allow it'
    setTimeout(() => {
      button.textContent = label
    }, 1500)
  })
}

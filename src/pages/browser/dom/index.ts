/** Returns the element of a page with this id. Throws if it is missing, which is a defect of the build. */
export const byId = <Type extends HTMLElement>(id: string, type: new () => Type): Type => {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(`The page has no ${type.name} #${id}.`)
  return found
}

/** Returns what loads a module. Browsers do not load an address again that has failed: the next try has another one. */
export const retryImport = <Module>(load: () => Promise<Module>): (() => Promise<Module>) => {
  let failed: string | undefined
  return async () => {
    try {
      return await (failed === undefined ? load() : import(`${failed}?${Date.now()}`))
    } catch (error) {
      failed = /https?:[^\s?]+/.exec(String(error))?.[0] ?? failed
      throw error
    }
  }
}

/** Selects a line of a text, with two lines above it in sight. */
export const selectLine = (input: HTMLTextAreaElement, line: number): void => {
  const lines = input.value.split('\n')
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
  input.focus()
  input.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  input.scrollTop = (input.scrollHeight / lines.length) * (line - 3)
}

/**
 * Enables the buttons of a part of a page once its script handles them. Before that, a browser would submit the form
 * itself: it would load the page again, and what was written would be lost.
 */
export const enableButtons = (part: HTMLElement): void => {
  for (const button of part.querySelectorAll('button')) button.disabled = false
}

/** Acts when a form is sent, which the browser does not do itself. */
export const handleSubmit = (form: HTMLFormElement, act: () => unknown): void =>
  form.addEventListener('submit', event => {
    event.preventDefault()
    act()
  })

/** Returns what acts after a time in ms, unless it is called again before. */
export const createTimer = () => {
  let timer: ReturnType<typeof setTimeout> | undefined
  return (act: () => unknown, delay: number): void => {
    clearTimeout(timer)
    timer = setTimeout(act, delay)
  }
}

/** Searches when a form is sent, and when nothing was entered for `pause` ms. */
export const handleSearch = (form: HTMLFormElement, pause: number, search: () => unknown): void => {
  const later = createTimer()
  form.addEventListener('input', () => later(search, pause))
  handleSubmit(form, () => later(search, 0))
}

const CONFIRMED_MS = 2000

/** Makes every copy button of the page work, and confirms what it copied for a moment on the button. */
export const enableCopying = (): void =>
  document.addEventListener('click', event => {
    const button = event.target instanceof Element && event.target.closest<HTMLElement>('button.copy')
    if (button) void copyFor(button)
  })

const copyFor = (button: HTMLElement): Promise<void> => {
  const source = byId(button.dataset.copies ?? '', HTMLElement)
  // Of tabs, the one that is shown.
  const shown = [...source.querySelectorAll('code')].find(each => each.checkVisibility()) ?? source
  return copyText(button, shown.textContent)
}

/** Copies a text, and confirms it for a moment on the button. */
export const copyText = async (button: HTMLElement, text: string): Promise<void> => {
  button.dataset.label ??= button.textContent
  const copying = navigator.clipboard.writeText(text)
  const isCopied = await copying.then(() => true).catch(() => false)
  button.textContent = isCopied ? 'Copied' : 'Not copied: select the text instead'
  setTimeout(() => {
    button.textContent = button.dataset.label ?? ''
  }, CONFIRMED_MS)
}

/** Lines of a text in a field, which the browser lays out at once: many more block the page for seconds. */
const MAX_LINES = 20_000

/** Returns whether a text has too many lines to be shown in a field. */
export const hasTooManyLines = (text: string): boolean => text.split(/\r\n?|\n/, MAX_LINES + 1).length > MAX_LINES

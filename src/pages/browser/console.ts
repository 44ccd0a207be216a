export {}

/** Opens the console of a card page when a person asks for it: with the button, or with `#console` in the address. */
const section = document.getElementById('console')
const button = section?.querySelector('button')

const openConsole = async (): Promise<void> => {
  if (!section || !button || button.disabled) return
  button.disabled = true
  button.textContent = 'Opening …'
  const status = section.querySelector('[role="status"]')
  try {
    const console = await import('./console/index.ts')
    await console.openConsole(section)
  } catch (error) {
    globalThis.console.error(error)
    button.disabled = false
    button.textContent = 'Try again'
    if (status) status.textContent = 'The console could not be loaded. Check the connection, then try again.'
  }
}

const openIfNamed = (): void => void (location.hash === '#console' && openConsole())

if (button) {
  button.hidden = false
  section?.querySelector('.console-needs-scripts')?.remove()
  button.addEventListener('click', openConsole)
  window.addEventListener('hashchange', openIfNamed)
  openIfNamed()
}

export {}

// Opens the console of a card page when a person asks for it: with the button, or with `#console` in the address.

const section = document.getElementById('console')
const button = section?.querySelector('button')

const openConsole = async (): Promise<void> => {
  if (!section || !button || button.disabled) return
  button.disabled = true
  button.textContent = 'Opening …'
  try {
    const { openConsole } = await import('./console/index.ts')
    await openConsole(section)
  } catch (error) {
    console.error(error)
    button.disabled = false
    button.textContent = 'Try again'
    const status = section.querySelector('[role="status"]')
    if (status) status.textContent = 'The console could not be loaded. Check the connection, then try again.'
  }
}

const openIfNamed = (): void => void (location.hash === '#console' && openConsole())

if (button) {
  button.hidden = false
  section?.querySelector('.console-needs-scripts')?.remove()
  button.addEventListener('click', openConsole)
  addEventListener('hashchange', openIfNamed)
  openIfNamed()
}

import { flushSync, render } from 'hono/jsx/dom'
import { createRoot } from 'hono/jsx/dom/client'
import { Message, type MessageKind } from '../components/index.ts'
import { ApiError, describeError } from './api/index.ts'
import { byId, copyText, enableButtons, enableCopying, handleSubmit, hasTooManyLines } from './dom/index.ts'
import { linkWith, loadReport, readFragment } from './lint/index.ts'

const form = byId('check', HTMLFormElement)
const input = byId('card', HTMLTextAreaElement)
const output = byId('report', HTMLElement)
const status = byId('status', HTMLElement)
const fileInput = byId('file', HTMLInputElement)
const exampleButton = byId('example', HTMLButtonElement)
const shareButton = byId('share', HTMLButtonElement)

const maxBytes = Number(form.dataset.maxBytes)
const report = createRoot(output)

const announce = (kind: MessageKind, text: string): void =>
  render(
    <Message kind={kind}>
      <strong>{text}</strong>
    </Message>,
    status,
  )

let checks = 0

/** Checks the text. `done` is what was changed in it. */
const check = async (done = ''): Promise<void> => {
  checks += 1
  const number = checks
  announce('info', 'Checking …')
  // The report of another text would mislead; that of a corrected one stays, with its open parts.
  if (done === '') clear()
  const { Report, changeText, checkText } = await loadReport()
  const checked = await checkText(input.value, maxBytes)
  // Another check has begun meanwhile.
  if (number !== checks) return
  input.value = checked.text
  announce(checked.kind, done + checked.headline)
  const change: Parameters<typeof Report>[0]['change'] = (changes, done) =>
    run(async () => {
      const place = [...output.querySelectorAll('button.fix')].indexOf(document.activeElement as Element)
      const isSame = input.value === checked.text
      const changed = isSame ? changeText(input.value, changes) : input.value
      if (changed === undefined) return announce('warn', 'This page cannot change that part: edit the text instead.')
      input.value = changed
      await check(isSame ? `${done}. ` : 'You have changed the text since: it was checked again. ')
      // The button is gone: the next one is in its place.
      const buttons = [...output.querySelectorAll<HTMLElement>('button.fix')]
      const next = buttons[place] ?? buttons.at(-1) ?? status
      next.focus()
    })
  flushSync(() => report.render(<Report checked={checked} input={input} change={change} />))
}

const clear = (): void => flushSync(() => report.render(null))

/** Acts, and reports why that failed: any failure but that of a request is a defect of this page. */
const run = async (act: () => Promise<void>): Promise<void> => {
  try {
    await act()
  } catch (error) {
    clear()
    if (error instanceof ApiError) return announce('bad', describeError(error))
    console.error(error)
    announce('bad', 'This page has failed. Load it again.')
  }
}

const checkNew = async (text: string): Promise<void> => {
  if (hasTooManyLines(text)) return announce('bad', 'This text has too many lines for a card.')
  input.value = text
  await check()
}

const openFile = async (file: File | undefined): Promise<void> => {
  if (!file) return
  if (file.size > 4 * maxBytes) return announce('bad', 'This file is too large for a card.')
  await checkNew(await file.text())
}

/** Opens the card that a link carries. The address then has it no more, as the text can be changed. */
const openLink = async (): Promise<void> => {
  const read = await readFragment(location.hash, 4 * maxBytes)
  if (!read) return
  history.replaceState(null, '', location.pathname)
  clear()
  if ('problem' in read) return announce('bad', read.problem)
  await checkNew(read.text)
}

const share = async (): Promise<void> => {
  const link = await linkWith(input.value)
  if (link === undefined) return announce('warn', 'This card is too large for a link: send it as a file.')
  await copyText(shareButton, link)
}

enableCopying()
handleSubmit(form, () => run(check))
fileInput.addEventListener('change', () => run(() => openFile(fileInput.files?.[0])))
exampleButton.addEventListener('click', () => run(() => checkNew(exampleButton.dataset.example ?? '')))
for (const name of ['dragover', 'drop'] as const)
  form.addEventListener(name, event => {
    event.preventDefault()
    if (name === 'drop') void run(() => openFile(event.dataTransfer?.files[0]))
  })
shareButton.addEventListener('click', () => run(share))
addEventListener('hashchange', () => run(openLink))
enableButtons(form)
void run(openLink)

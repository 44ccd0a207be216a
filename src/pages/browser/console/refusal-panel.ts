import { escapeInvisible } from '../../text/index.ts'
import { element } from '../elements/index.ts'
import { button } from './dom.ts'
import type { Fix, Refusal } from './refusal.ts'

/** Renders why a call has no result, with a button for each fix. */
export const renderRefusal = ({ title, message, cause, fixes }: Refusal, onFix: (fix: Fix) => void): HTMLElement =>
  element(
    'div',
    { class: 'message bad', role: 'alert' },
    element('h3', {}, title),
    element('p', { dir: 'auto', class: 'console-text' }, message),
    ...(cause ? renderCause(cause) : []),
    element('p', { class: 'console-actions' }, ...fixes.map(({ label, fix }) => button(label, () => onFix(fix)))),
  )

const renderCause = ({ pointer, line, lines }: NonNullable<Refusal['cause']>): HTMLElement[] =>
  line === undefined
    ? [element('p', {}, 'The card does not have ', element('code', {}, pointer), '.')]
    : [
        element('p', {}, 'Because of ', element('code', {}, pointer), `, line ${line} of the card:`),
        renderCardLines(line, lines),
      ]

/** Renders the place of the card that refuses a call, with the numbers of its lines. */
const renderCardLines = (line: number, lines: readonly string[]): HTMLElement =>
  element(
    'pre',
    { tabindex: '0', role: 'group', 'aria-label': 'Lines of the card', class: 'console-raw', dir: 'ltr' },
    escapeInvisible(lines.map((text, index) => `${String(line + index).padStart(4)}  ${text}`).join('\n')),
  )

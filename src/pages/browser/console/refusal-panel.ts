import { button, el } from './dom.ts'
import { renderCardLines } from './exchange-view.ts'
import type { Fix, Refusal } from './refusal.ts'

/** Renders why a call has no result, with a button for each fix. */
export const renderRefusal = ({ title, message, cause, fixes }: Refusal, onFix: (fix: Fix) => void): HTMLElement =>
  el(
    'div',
    { className: 'message bad', role: 'alert' },
    el('h3', {}, title),
    el('p', { dir: 'auto', className: 'console-text' }, message),
    ...(cause ? renderCause(cause) : []),
    el('p', { className: 'console-actions' }, ...fixes.map(({ label, fix }) => button(label, () => onFix(fix)))),
  )

const renderCause = ({ pointer, line, lines }: NonNullable<Refusal['cause']>): HTMLElement[] =>
  line === undefined
    ? [el('p', {}, 'The card does not have ', el('code', {}, pointer), '.')]
    : [el('p', {}, 'Because of ', el('code', {}, pointer), `, line ${line} of the card:`), renderCardLines(line, lines)]

import { html } from 'hono/html'
import { describeAge, type ReceiptTest, type StoredReceipt } from '../../card/model/index.ts'
import type { Html } from '../layout/index.ts'

/** What a page shows of the newest check of an agent, as of `now` in ms since 1970. */
export type CheckFacts = StoredReceipt & { current: boolean; now: number }

/** Renders what the newest check of an agent has shown; nothing for an agent that was never checked. */
export const receiptSection = (id: string, facts: CheckFacts | undefined): Html | string => {
  if (!facts) return ''
  const { receipt, signature, current, now } = facts
  const { passed, failed, skipped } = receipt.summary
  const groups = [...Map.groupBy(receipt.tests, test => test.title)]
  return html`<section aria-labelledby="tests"><h2 id="tests">Tests</h2>
<p>This host tested the agent <time datetime="${receipt.checked}">${describeAge(receipt.checked, now)}</time>: ${passed} passed, ${failed} failed, ${skipped} skipped.${current ? '' : ' The card has changed since.'}</p>
<ul class="capabilities">${groups.map(([title, tests]) => testItem(title, tests))}</ul>
<p>${signature === undefined ? 'The receipt is not signed.' : 'The receipt has a signature of this host.'} <a href="/agents/${id}/receipt">Open the receipt</a></p>
</section>`
}

/** Renders all tests with a title as one, with the reasons of those that failed. */
const testItem = (title: string, tests: readonly ReceiptTest[]): Html => {
  const failed = tests.filter(({ result }) => result === 'failed')
  if (failed.length === 0)
    return tests.some(({ result }) => result === 'passed')
      ? html`<li class="yes">${title}</li>`
      : html`<li class="no">${title} <span class="badge">skipped</span></li>`
  const [first] = failed
  return html`<li class="failed">${title}: ${failed.length} of ${tests.length} failed. ${first?.reason ?? ''}</li>`
}

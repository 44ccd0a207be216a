import type { Progress } from '@modelcontextprotocol/client'

/** How many updates may come at once, and how long it takes until there may be one more, in ms. */
const burst = 20
const interval = 1000

/**
 * Lets through as much of a tool's progress as anybody reads: each update is an event of the task, which is kept, and a server
 * may tell of a thousand in a second.
 */
export const progressUpdates = (tell: (text: string) => void): ((progress: Progress) => void) => {
  let allowed = burst
  let counted = Date.now()
  return progress => {
    const passed = Math.floor((Date.now() - counted) / interval)
    allowed = Math.min(burst, allowed + passed)
    counted += passed * interval
    if (allowed <= 0) return
    allowed--
    tell(progressText(progress))
  }
}

const mostText = 1000

/** What a server says of its progress: its words, or how much of how much. */
const progressText = ({ progress, total, message }: Progress): string => {
  const share = total === undefined || !(total > 0) ? `${progress}` : `${Math.round((100 * progress) / total)} %`
  const words = message?.trim() ?? ''
  if (words === '') return share
  return `${words.slice(0, mostText).toWellFormed()}${total === undefined ? '' : ` (${share})`}`
}

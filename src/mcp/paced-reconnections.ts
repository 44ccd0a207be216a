import type { ReconnectionScheduler } from '@modelcontextprotocol/client'

/** How far apart an event stream of a session is asked for again after another, or after itself, in ms: servers may say 0. */
const apart = 1000

/** When event streams that have ended are asked for again: when the server says, but one at a time. */
export const pacedReconnections = (): ReconnectionScheduler => {
  let free = Date.now() + apart
  return (reconnect, delay) => {
    let timer = setTimeout(() => {
      const now = Date.now()
      const wait = Math.max(0, free - now)
      free = now + wait + apart
      timer = setTimeout(reconnect, wait)
    }, delay)
    return () => clearTimeout(timer)
  }
}

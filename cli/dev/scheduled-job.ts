/** As wrangler.toml's cron says, in milliseconds. */
const minute = 60_000

/** Runs the host's scheduled job each minute, which `wrangler dev` does not do by itself. It keeps no process from ending. */
export const runScheduledJob = (url: string): void => {
  const timer = setInterval(() => {
    fetch(`${url}/cdn-cgi/handler/scheduled`).then(
      response => response.body?.cancel(),
      // The host is being ended, or starts anew: the next minute comes.
      () => undefined,
    )
  }, minute)
  timer.unref()
}

import colors from 'picocolors'
import { agentsText } from './dev/agents-text.ts'
import { quotedAuthorization } from './dev/call-lines.ts'
import { startDevServer, untilAnswering } from './dev/dev-server.ts'
import { isPortFree } from './dev/free-port.ts'
import { whenOrphaned } from './dev/orphaned.ts'
import { endGroup, killGroup } from './dev/process-group.ts'
import { runScheduledJob } from './dev/scheduled-job.ts'
import { shownAgents } from './dev/shown-agents.ts'
import { readEnvironment } from './environment.ts'
import { badPortText, isBadPort } from './host/bad-port.ts'
import { connect } from './host/host.ts'
import { outcomeText } from './report/outcome-text.ts'
import { localToken, localUrl } from './settings.ts'
import { syncCards } from './sync/sync.ts'
import { unasked } from './sync/unasked.ts'
import { voice } from './sync/voice.ts'
import { UsageError } from './usage-error.ts'

const fail = (message: string): void => {
  process.stderr.write(`${colors.red('npm start:')} ${message}\n`)
  process.exitCode = 1
}

const environment = readEnvironment()
const url = localUrl(environment)
const port = Number(environment.PORT ?? 8787)
const token = environment.ADMIN_TOKEN ?? localToken
const { say, ...speaker } = voice(false)

/** Registers the cards of the folder and shows what is there then; cards that are bad keep nobody from the rest. */
const showCards = async (): Promise<void> => {
  try {
    const outcome = await syncCards([], { url, token }, unasked, { say, ...speaker })
    const odd = outcome.results.some(
      ({ action, unexposed, source }) =>
        !['created', 'updated', 'unchanged'].includes(action) ||
        source !== undefined ||
        (unexposed && action !== 'unchanged'),
    )
    if (odd || outcome.failure) say(outcomeText(outcome))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    say(error.message)
  }
  const shown = await shownAgents(connect({ url, token, retries: unasked.retries, note: speaker.note }))
  say(agentsText(url, shown, quotedAuthorization(environment, process.env)))
}

const serve = async (): Promise<void> => {
  const server = startDevServer(port, token, environment)
  // Whatever ends this process, an unexpected error too, leaves no runtime behind that keeps the port.
  process.on('exit', () => killGroup(server))
  const ended = new Promise<void>(resolve => {
    server.once('exit', () => resolve())
    server.once('error', () => resolve())
  })
  let stopping = false
  const stop = (): void => {
    stopping = true
    void endGroup(server)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  whenOrphaned(stop)
  const answering = await untilAnswering(`${url}/agents`, server)
  if (answering) runScheduledJob(url)
  if (answering) await showCards()
  else if (!stopping) fail('wrangler dev did not start; VERBOSE=1 npm start tells more.')
  if (!answering) await endGroup(server)
  await ended
  if (!stopping && answering) fail('wrangler dev has ended.')
}

/** Nobody listens there yet, so that any other failure is no answer. */
const isRefused = (): Promise<boolean> => fetch(url).then(() => false, isBadPort)

if (!Number.isInteger(port) || port < 1 || port > 65_535) fail(`PORT is "${environment.PORT}", not a port.`)
else if (!(await isPortFree(port)))
  fail(`Port ${port} is in use. Stop what runs there, or choose another: PORT=8788 npm start`)
else if (await isRefused()) fail(`${badPortText(url)}.`)
else await serve()

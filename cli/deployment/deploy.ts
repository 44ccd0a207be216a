import type { Environment } from '../environment.ts'
import { exitCodes } from '../exit-codes.ts'
import { outcomeText } from '../report/outcome-text.ts'
import { readUrl } from '../settings.ts'
import { exitCodeOf } from '../sync/outcome.ts'
import { syncCards } from '../sync/sync.ts'
import { unasked } from '../sync/unasked.ts'
import type { Voice } from '../sync/voice.ts'
import { adminToken } from './admin-token.ts'
import { deployedUrl } from './deployed-url.ts'
import { exampleDeployments } from './example-deployments.ts'
import { untilLive } from './until-live.ts'
import type { Deployed } from './wrangler-deploy.ts'

/** What a deployment is made with; `deployWorker` is wrangler, or what a test puts in its place. */
export type Deployment = {
  args: readonly string[]
  environment: Environment
  folder: string
  voice: Voice
  deployWorker: (args: readonly string[], secrets?: Readonly<Record<string, string>>) => Promise<Deployed>
}

/** How long a new address may take to be known, in milliseconds. */
const patience = 180_000

/** How long the edge may take to serve what was pushed, in seconds. */
const wait = 90

/** Deploys the Worker with its admin token, after the examples that it has bound, and brings it in line with `cards/`; answers the exit code. */
export const deploy = async ({ args, environment, folder, voice, deployWorker }: Deployment): Promise<number> => {
  // A mistake in an address is told before anything is deployed.
  const known = [environment.PUBLIC_URL, environment.SYNC_CARD_URL].find(Boolean)
  const given = known === undefined ? undefined : readUrl(known)
  const rehearsal = args.includes('--dry-run')
  const { token, made } = rehearsal ? { token: 'none', made: false } : adminToken(environment, folder)
  if (made) voice.say('A new ADMIN_TOKEN is in .env, for you alone. Keep it: it is what lets you change the cards.')
  for (const example of await exampleDeployments(args)) {
    const { exitCode } = await deployWorker(example)
    if (exitCode !== 0) return exitCode
  }
  const { exitCode, output } = await deployWorker(args, { ADMIN_TOKEN: token })
  if (exitCode !== 0) return exitCode
  if (rehearsal) {
    voice.say('Nothing was deployed, so no cards were sent.')
    return exitCodes.ok
  }
  const address = given ?? deployedUrl(output)
  if (address === undefined) {
    voice.note('The Worker is deployed, but at which address? Set SYNC_CARD_URL and run: npx sync-card --wait')
    return exitCodes.usage
  }
  return sendCards(address, token, voice)
}

const sendCards = async (url: string, token: string, voice: Voice): Promise<number> => {
  voice.note(`Waiting for ${url} …`)
  if (!(await untilLive(url, patience))) {
    voice.note(`The Worker is deployed, but ${url} does not answer yet. Later: npx sync-card --url ${url} --wait`)
    return exitCodes.unreachable
  }
  const outcome = await syncCards([], { url, token }, { ...unasked, retries: 6, wait }, voice)
  voice.say(outcomeText(outcome))
  voice.say(`From now on: npx sync-card --url ${url} (or SYNC_CARD_URL=${url} in .env)`)
  return exitCodeOf(outcome, false)
}

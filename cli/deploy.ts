import { deploy } from './deployment/deploy.ts'
import { wranglerDeploy } from './deployment/wrangler-deploy.ts'
import { readEnvironment } from './environment.ts'
import { exitCodes } from './exit-codes.ts'
import { voice } from './sync/voice.ts'
import { UsageError } from './usage-error.ts'

try {
  process.exitCode = await deploy({
    args: process.argv.slice(2),
    environment: readEnvironment(),
    folder: process.cwd(),
    voice: voice(false),
    deployWorker: wranglerDeploy,
  })
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`npm run deploy: ${error.message}\n`)
  process.exitCode = exitCodes.usage
}

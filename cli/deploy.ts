import { createContext, processIo } from './context.ts'
import { deploy } from './deploy/deploy.ts'
import { createWrangler } from './deploy/wrangler.ts'
import { ExitCode, UsageError } from './exit-codes.ts'

const context = createContext(processIo(), 'npm run deploy')
try {
  process.exitCode = await deploy(process.argv.slice(2), context, createWrangler(context.cwd, process.env))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  context.terminal.error(error.lines)
  process.exitCode = ExitCode.usage
}

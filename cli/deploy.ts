import { createContext, processIo } from './context.ts'
import { createWrangler, deploy } from './deploy/index.ts'
import { exitOnFailure } from './failure.ts'

exitOnFailure('npm run deploy')
const context = createContext(processIo(), 'npm run deploy')
process.exitCode = await deploy(process.argv.slice(2), context, createWrangler(context.cwd, process.env))

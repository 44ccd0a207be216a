import { createContext, processIo } from './context.ts'
import { start } from './dev/index.ts'
import { exitOnFailure } from './failure.ts'

exitOnFailure('npm start')
const context = createContext(processIo(), 'npm start')
process.exitCode = await start(process.argv.slice(2), context)

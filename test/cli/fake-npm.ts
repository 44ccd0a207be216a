import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

// Starts the host as npm does: as a child that is not told when its parent is killed.
spawn(process.execPath, [resolve(import.meta.dirname, '../../cli/start.ts')], {
  stdio: ['ignore', 'pipe', 'pipe'],
}).stdout.pipe(process.stdout)

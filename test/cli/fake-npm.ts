import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

// Starts the host as npm does: as a child that gets no signal when its parent is killed.
spawn(process.execPath, [resolve(import.meta.dirname, '../../cli/start.ts')], {
  stdio: ['ignore', 'pipe', 'pipe'],
}).stdout.pipe(process.stdout)

// Runs commands of an installed sync-card in one process of any Node.js, because a process of its own for each takes too long.
// The first argument names a file with the entry and the command lines; their results are written to the second.
import { readFileSync, writeFileSync } from 'node:fs'

const [input, output] = process.argv.slice(2)
const { entry, commands } = JSON.parse(readFileSync(input, 'utf8'))

const results = []
for (const [index, { args, env }] of commands.entries()) {
  const result = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    process[name].write = chunk => {
      result[name] += chunk
      // A command that keeps running is interrupted once it waits.
      if (result.stderr.includes('Watching for changes')) setImmediate(() => process.emit('SIGTERM', 'SIGTERM'))
      return true
    }
  process.argv = [process.execPath, entry, ...args]
  process.env = env
  process.exitCode = undefined
  // The query makes it another module, which runs again.
  await import(`${entry}?${index}`)
  results.push({ code: process.exitCode, ...result })
}
process.exitCode = 0
writeFileSync(output, JSON.stringify(results))

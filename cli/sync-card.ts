#!/usr/bin/env node
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)) {
  // A reader such as `head` may close its end early. The command still finishes its work.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  // Loaded only here: an older Node.js fails on what it imports.
  const { exitOnFailure } = await import('./failure.ts')
  exitOnFailure('sync-card')
  const { run } = await import('./cli.ts')
  process.exitCode = await run(process.argv.slice(2))
} else {
  process.stderr.write(`sync-card: needs Node.js 20.19, or 22.12 or later; this is ${process.version}.\n`)
  process.exitCode = 2
}

export {}

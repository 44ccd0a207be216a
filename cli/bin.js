#!/usr/bin/env node
// Runs sync-card: in a clone from source, and in a git dependency of npm from what `prepare` in package.json built. This
// file is JavaScript, so that a Node.js that cannot read TypeScript reports why it fails.
import { existsSync } from 'node:fs'

const built = new URL('../dist/sync-card/lib/sync-card.js', import.meta.url)
const fail = message => {
  process.stderr.write(`sync-card: ${message}\n`)
  process.exitCode = 2
}

if (!existsSync(new URL('sync-card.ts', import.meta.url))) {
  if (existsSync(built)) await import(built.href)
  else
    fail('was not built when it was installed, because npm ran no scripts: install it again without --ignore-scripts.')
} else if (process.features.typescript) {
  await import('./sync-card.ts')
} else {
  fail(
    `${process.version} cannot run the source, which needs Node.js 22.18 or later. ` +
      'In a clone, npm ci installs one, which npx sync-card uses.',
  )
}

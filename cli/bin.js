#!/usr/bin/env node
// Runs sync-card in a clone. This file is JavaScript, so that a Node.js that cannot read TypeScript reports why it fails.
if (process.features.typescript) {
  await import('./sync-card.ts')
} else {
  process.stderr.write(
    `sync-card: ${process.version} cannot run the source. npm ci installs a Node.js that can, which npx sync-card uses.\n` +
      'Outside a clone, install the package: npm install --global sync-card\n',
  )
  process.exitCode = 2
}

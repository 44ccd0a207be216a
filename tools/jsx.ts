import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'rolldown/utils'

// Lets Node.js import modules with JSX, as those of pages: `node --import ./tools/jsx.ts`.

registerHooks({
  load: (url, context, next) => {
    if (!url.endsWith('.tsx')) return next(url, context)
    const path = fileURLToPath(url)
    const jsx = { runtime: 'automatic', importSource: 'hono/jsx' } as const
    const { code } = transformSync(path, readFileSync(path, 'utf8'), { jsx })
    return { format: 'module', source: code, shortCircuit: true }
  },
})

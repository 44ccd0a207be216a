import { createRequire } from 'node:module'

// Calls an agent as the client of AdCP does.

const { callA2ATool } = createRequire(import.meta.url)('./node_modules/@adcp/sdk/dist/lib/protocols/a2a.js')
console.log(JSON.stringify(await callA2ATool(process.argv[2], 'get_products', { brief: 'Umbrellas' }, undefined, [])))
process.exit()

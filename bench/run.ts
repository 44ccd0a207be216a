import { parseOptions } from './options.ts'

const options = parseOptions(process.argv.slice(2))
if ('help' in options) {
  console.log(options.help)
} else if ('error' in options) {
  console.error(options.error)
  process.exitCode = 2
} else {
  // Loaded only here: it takes a second.
  const { measure } = await import('./measure.ts')
  process.exit(await measure(options))
}

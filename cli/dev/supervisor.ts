// Runs `wrangler dev` for `npm start`, in a process group of their own. A process that is killed cannot clean up: once
// `npm start` is gone, and with it the channel to it, this process deletes its files and ends the group with workerd.
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'

const { args, files }: { args: string[]; files: string[] } = JSON.parse(process.argv[2] ?? '')
process.once('disconnect', () => {
  for (const file of files) rmSync(file, { force: true })
  process.kill(0, 'SIGKILL')
})
const wrangler = spawn('wrangler', args, { stdio: 'inherit' })
wrangler.once('error', () => process.exit(1)).once('exit', code => process.exit(code ?? 1))
// wrangler ends first, in order.
process.on('SIGTERM', () => wrangler.kill('SIGTERM'))

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const program = `#!${process.execPath}
const args = process.argv.slice(2)
const after = flag => args.flatMap((arg, index) => (args[index - 1] === flag ? [arg] : []))
const headers = new Headers(after('-H').map(header => header.split(/: (.*)/s).slice(0, 2)))
const [body] = after('-d')
const [user] = after('-u')
if (user) headers.set('Authorization', 'Basic ' + btoa(user))
const url = args.find((arg, index) => /^http/.test(arg) && !/^-[Hd]$/.test(args[index - 1]))
fetch(url, { headers, body, method: body ? 'POST' : 'GET' }).then(response => response.text()).then(text => process.stdout.write(text))
`

/** Writes a program with the part of curl that commands of this project use, as not every machine has curl. Returns its folder. */
export const installCurl = (): { folder: string; remove: () => void } => {
  const folder = mkdtempSync(join(tmpdir(), 'calling-card-'))
  writeFileSync(join(folder, 'curl'), program)
  chmodSync(join(folder, 'curl'), 0o755)
  return { folder, remove: () => rmSync(folder, { recursive: true }) }
}

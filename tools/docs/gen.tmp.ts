import './workers.ts'

const { routes } = await import('../../src/app.ts')
const { renderClient } = await import('./client.ts')
const ok = []
for (const row of routes) {
  const d = await row[2].describe().catch(() => undefined)
  if (d?.responses) ok.push(row)
  else console.error(row[0], row[1])
}
process.stdout.write(await renderClient(ok))

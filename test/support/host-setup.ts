import { startSharedHosts } from './shared-hosts.ts'

await startSharedHosts()

import { log } from '../../http/log.ts'

/** Whom Shaman's door is for: `public`, everybody; `internal`, those with a token. */
export type Role = 'public' | 'internal'

/** The role of this deployment, as `ROLE` says it: one that is misspelt was hardly meant to be public. */
export const deploymentRole = ({ ROLE: said = '' }: { ROLE?: string }): Role => {
  const role = said.trim()
  if (role === '' || role === 'public') return 'public'
  if (role !== 'internal')
    log('error', 'misconfigured', { why: 'ROLE is neither public nor internal: taken for internal' })
  return 'internal'
}

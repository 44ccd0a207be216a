import { describe, expect, it, vi } from 'vitest'
import { deploymentRole } from '../../../src/api/compat/shaman.ts'

describe('the role that ROLE says', () => {
  it.each([
    [undefined, 'public', 0],
    ['', 'public', 0],
    ['public', 'public', 0],
    ['internal', 'internal', 0],
    [' internal ', 'internal', 0],
    ['Public', 'internal', 1],
    ['open', 'internal', 1],
  ])('%j is %s', (said, role, logged) => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    expect([deploymentRole(said === undefined ? {} : { ROLE: said }), error.mock.calls.length]).toEqual([role, logged])
  })

  it('is reported once if it is misspelt, not with each request', () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    for (let count = 0; count < 3; count++) deploymentRole({ ROLE: 'Internal' })
    expect(error).toHaveBeenCalledTimes(1)
  })
})

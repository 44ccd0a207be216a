import { expect, it } from 'vitest'
import { orderTests } from '../../../tools/mutants/groups.ts'

it('orders tests by their distance to a module, then by what they reach', () => {
  const files = [
    'test/gateway/calls.host.test.ts',
    'test/card/lint/urls.test.ts',
    'test/card/read/skills.test.ts',
    'test/card/lint/skills.test.ts',
    'test/card/lint/texts.test.ts',
  ]
  const reached = new Map([['test/card/lint/urls.test.ts', 9]])
  expect(orderTests('src/card/lint/skills.ts', files, file => reached.get(file) ?? 1)).toEqual([
    'test/card/lint/skills.test.ts',
    'test/card/lint/texts.test.ts',
    'test/card/lint/urls.test.ts',
    'test/card/read/skills.test.ts',
    'test/gateway/calls.host.test.ts',
  ])
})

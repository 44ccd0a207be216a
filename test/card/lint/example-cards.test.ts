import { expect, it } from 'vitest'
import { formatIssues, lintCard } from '../../support/cards/compile.ts'
import { readSeed } from '../../support/cards/seeds.ts'

it('the linter returns few issues with published example cards', () => {
  const names = ['gopherhole-complete', 'guide-code-review', 'superx-exa', 'shaman-generated', 'telex-etymo']
  const issues = names.map(name => [
    name,
    ...formatIssues(lintCard({ url: 'https://agent.example.com/a2a', ...readSeed(name) })),
  ])
  const security = 'security-undeclared info /securitySchemes'
  const modes = ['modes-undeclared info /defaultInputModes', 'modes-undeclared info /defaultOutputModes']
  const tags = [0, 1].map(index => `tags-undeclared info /skills/${index}/tags`)
  const examples = [0, 1].map(index => `few-examples info /skills/${index}/examples`)
  expect(issues).toEqual([
    ['gopherhole-complete', security],
    ['guide-code-review'],
    ['superx-exa', security, ...tags, ...examples, ...modes],
    ['shaman-generated', tags[0], ...modes],
    ['telex-etymo', tags[0]],
  ])
})

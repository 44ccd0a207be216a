import { expect, it } from 'vitest'
import { pageText } from '../../src/api/agent-links.ts'

it.each([
  ['tags', 'agent.<wbr>example<b class="x">.com</b>', 'agent.example.com'],
  ['references by number', '&#97;gent&#x2E;example&#46;com&#x2f', 'agent.example.com/'],
  ['references by name', 'https&colon;&sol;&sol;agent&period;example&period;com', 'https://agent.example.com'],
  ['what takes no room', 'agent.exam\u00adple&shy;.\u200bc&ZeroWidthSpace;om', 'agent.example.com'],
  ['other references, as they are', 'a &amp; b &lt; c &#x110000; &unknown;', 'a &amp; b &lt; c &#x110000; &unknown;'],
  ['no more tags than end', 'a < b <<i>c', 'a < b <c'],
])('is read without %s', (_, markup, text) => {
  expect(pageText(markup)).toBe(text)
})

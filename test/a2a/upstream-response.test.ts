import { expect, it } from 'vitest'
import { handedDown } from '../../src/a2a/upstream-response.ts'

it.each([
  [
    'Bearer realm="weather", error="invalid_token", scope="read"',
    'Bearer realm="weather", error="invalid_token", scope="read"',
  ],
  ['Bearer resource_metadata="https://agent.internal.example/meta"', 'Bearer'],
  [
    'Bearer resource_metadata="https://agent.internal.example/meta", error="invalid_token"',
    'Bearer error="invalid_token"',
  ],
  ['Bearer realm="https://agent.internal.example/", scope="read"', 'Bearer scope="read"'],
  ['Bearer error="invalid_token", resource_metadata=https://agent.internal.example', 'Bearer error="invalid_token"'],
  ['Basic realm="weather", charset="UTF-8"', 'Basic realm="weather", charset="UTF-8"'],
])('hands the challenge %s down without where the agent is', (challenge, expected) => {
  const upstream = new Response(null, { status: 401, headers: { 'WWW-Authenticate': challenge } })
  expect(handedDown('{}', 'application/json', upstream).headers.get('WWW-Authenticate')).toBe(expected)
})

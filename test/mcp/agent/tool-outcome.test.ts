import { describe, expect, it } from 'vitest'
import {
  failureMessage,
  misconfigured,
  quotaMessage,
  type ToolOutcome,
  type ToolResult,
  toFailedOutcome,
  toOutcome,
  toParts,
} from '../../../src/mcp/agent/tool-outcome.ts'
import type { McpError } from '../../../src/mcp/client/mcp-error.ts'

const pixel = 'iVBORw0KGgo='
const annotations = { audience: ['user'], priority: 0.5 }
const described = { title: 'A', description: 'All of it', size: 7 }
const json = 'application/json'
const asText = (text: string) => ({ text, mediaType: 'text/plain' })

describe('the content of a tool’s result', () => {
  it('becomes parts in its order, structured content last', () => {
    const url = 'https://files.example/a.pdf'
    const resource = (more: object) => ({ type: 'resource', resource: { uri: 'memo://x/d', ...more } })
    const rows: [content: object, part: object][] = [
      [
        { type: 'text', text: 'a', annotations },
        { ...asText('a'), metadata: { annotations } },
      ],
      [{ type: 'text', text: 'a', annotations: null }, asText('a')],
      [
        { type: 'image', data: pixel, mimeType: 'image/png' },
        { raw: pixel, mediaType: 'image/png' },
      ],
      [
        { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav', annotations },
        { raw: 'UklGRg==', mediaType: 'audio/wav', metadata: { annotations } },
      ],
      [
        { type: 'resource_link', uri: url, name: 'a.pdf', mimeType: 'a/b', ...described, annotations },
        { url, filename: 'a.pdf', mediaType: 'a/b', metadata: { ...described, annotations } },
      ],
      [
        { type: 'resource_link', uri: 'HTTP://a.example', name: 'a' },
        { url: 'HTTP://a.example', filename: 'a' },
      ],
      [
        { type: 'resource_link', uri: 'memo://b', name: 'b', mimeType: 'a/b', ...described, annotations },
        { data: { resource: 'memo://b', name: 'b', mimeType: 'a/b', ...described, annotations }, mediaType: json },
      ],
      [
        { ...resource({ text: '# c', mimeType: 'text/markdown' }), annotations },
        { text: '# c', mediaType: 'text/markdown', filename: 'd', metadata: { uri: 'memo://x/d', annotations } },
      ],
      [resource({ text: 'd' }), { ...asText('d'), filename: 'd', metadata: { uri: 'memo://x/d' } }],
      [
        resource({ uri: 'memo://', blob: pixel }),
        { raw: pixel, mediaType: 'application/octet-stream', filename: 'memo://', metadata: { uri: 'memo://' } },
      ],
      [
        { type: 'hologram', shape: 1 },
        { data: { type: 'hologram', shape: 1 }, mediaType: json },
      ],
    ]
    const content = rows.map(([block]) => block) as ToolResult['content']
    expect(toParts({ content, structuredContent: { sum: 3 } })).toEqual([
      ...rows.map(([, part]) => part),
      { data: { sum: 3 }, mediaType: json },
    ])
    expect(toParts({ structuredContent: { sum: 3 } } as never)).toEqual([{ data: { sum: 3 }, mediaType: json }])
  })

  it('is refused if it nests deeper than 64 levels', () => {
    const nested = (depth: number) => ({
      content: [],
      structuredContent: JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
    })
    expect(toOutcome(nested(64))).toHaveProperty('result')
    expect(toOutcome(nested(65))).toEqual({ invalid: 'The tool returned data that nests deeper than 64 levels.' })
    expect(toOutcome({ content: [] })).toEqual({ result: { content: [] } })
  })
})

describe('the outcome of a call', () => {
  it('has what an error of the server means for the caller, and the details for the owner', () => {
    const rows: [McpError, ToolOutcome][] = [
      [{ code: 'refused', message: 'No' }, { refused: 'No' }],
      [
        { code: 'unreachable', message: 'M', why: 'DNS' },
        { failure: { kind: 'unreachable' }, detail: 'DNS' },
      ],
      [{ code: 'timeout', message: 'M' }, { failure: { kind: 'timeout', seconds: 9 } }],
      [{ code: 'broken-off', message: 'M' }, { failure: { kind: 'broken-off' } }],
      [{ code: 'too-large', message: 'M', maxBytes: 5 }, { failure: { kind: 'response-too-large', maxBytes: 5 } }],
      [{ code: 'not-ready', message: 'M' }, { notReady: 'M' }],
      [
        { code: 'session-lost', message: 'M', status: 404, quote: 'Q' },
        { notReady: 'M', quote: 'Q' },
      ],
    ] as never
    expect(rows.map(([error]) => toFailedOutcome(error, 9))).toEqual(rows.map(([, outcome]) => outcome))
    expect(misconfigured('D')).toEqual({ failure: { kind: 'misconfigured', detail: 'D' }, detail: 'D' })
  })

  it('becomes the message of a failed task: its text and reason', () => {
    const failed = { isError: true, content: [{ type: 'text' as const, text: 'No such place.' }] }
    const rows: [ToolOutcome, text: string, reason: string][] = [
      [{ result: failed }, 'No such place.', 'TOOL_FAILED'],
      [{ result: { isError: true, content: [] } }, 'The tool failed without a message.', 'TOOL_FAILED'],
      [{ refused: 'Nobody is at home' }, 'Nobody is at home', 'MCP_SERVER_REFUSED'],
      [
        { notReady: 'HTTP 500', quote: 'down' },
        ...(["The tool's server is not ready. Try again later. It wrote: down", 'MCP_SERVER_NOT_READY'] as const),
      ],
      [{ invalid: 'Too deep.' }, 'Too deep.', 'INVALID_AGENT_RESPONSE'],
      [{ failure: { kind: 'timeout', seconds: 1 } }, 'The agent did not respond within 1 seconds.', 'AGENT_TIMEOUT'],
    ]
    for (const [outcome, text, reason] of rows)
      expect(failureMessage(outcome), text).toMatchObject({ parts: [asText(text)], metadata: { reason } })
  })

  it('is a rejection by the quota that is used up', () => {
    const texts = {
      agent: 'This agent is running as many tools as it may at once. Send the message again later.',
      anonymous:
        'This agent is running as many tools for callers without a token as it may at once. Send the message again later.',
      caller:
        'This agent is running as many tools for you as it may for one caller at once. Send the message again later.',
    }
    for (const [exceeded, text] of Object.entries(texts))
      expect(quotaMessage(exceeded as keyof typeof texts)).toEqual({
        parts: [asText(text)],
        metadata: { reason: 'RESOURCE_EXHAUSTED' },
      })
  })
})

import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { echoManifestWith, register } from '../e2e/calls/agents.ts'
import { describeInBrowser } from '../support/browser.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../support/host.ts'
import { json, reply, startUpstream, stream, type UpstreamServer } from '../support/upstream.ts'

const task = (changes: JsonObject): JsonObject => ({
  task: { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_COMPLETED' }, ...changes },
})

describeInBrowser('the console of a card page', browser => {
  let host: OwnHost
  let upstream: UpstreamServer
  /** What the browser complained about in a test: a policy that was broken, a script that failed. */
  let problems: string[]
  beforeAll(async () => {
    upstream = await startUpstream()
    host = await startHost({ ALLOWED_ORIGINS: upstream.origin }, { assets: true, examples: ['echo-agent'] })
    const required = [{ uri: 'https://example.com/extensions/required', required: true }]
    const custom = {
      ...minimalCard,
      name: 'Custom',
      supportedInterfaces: [{ url: `${upstream.origin}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: true },
      defaultInputModes: ['*/*'],
      defaultOutputModes: ['*/*'],
    }
    await register(host, {
      echo: echoManifestWith(),
      quiet: echoManifestWith({ card: { capabilities: { streaming: false } } }),
      strict: echoManifestWith({ card: { capabilities: { streaming: true, extensions: required } } }),
      custom: { route: 'gateway', card: custom },
      direct: { route: 'direct', card: custom },
    })
  })
  afterAll(async () => {
    await host.close()
    await upstream.close()
  })
  afterEach(() => expect(problems).toStrictEqual([]))

  const open = async (agent: string, options: Parameters<typeof browser.open>[0] = {}): Promise<Page> => {
    problems = []
    const page = await browser.open(options)
    page.on('console', message => void (message.type() === 'error' && problems.push(message.text())))
    page.on('pageerror', error => problems.push(error.message))
    await page.goto(new URL(`/agents/${agent}`, host.url).href)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    return page
  }
  const send = async (page: Page, text: string, action: 'Send' | 'Send and stream' = 'Send'): Promise<void> => {
    await page.getByRole('textbox', { name: /^(?:Message|Your reply)$/ }).fill(text)
    await page.getByRole('button', { name: action, exact: true }).click()
  }
  const state = (page: Page) => page.getByRole('log').locator('.badge').last()
  const waitForState = (page: Page, name: string) =>
    page.getByRole('log').locator('article').last().locator('.badge', { hasText: name }).waitFor()
  const rawExchange = (page: Page) => page.getByRole('region', { name: 'Raw exchange' })
  const answerWith = (result: JsonObject): void =>
    upstream.respond((response, _, body) =>
      reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body.toString()).id, result }))(response),
    )

  it('sends a message, and shows the task, its artifact and the raw exchange', async () => {
    const page = await open('echo')
    await send(page, 'hello <b>there</b>')
    await waitForState(page, 'completed')
    await page.getByRole('heading', { name: 'Artifact: echo' }).waitFor()
    expect(await page.getByRole('log').getByText('hello <b>there</b>').count()).toBe(2)
    await rawExchange(page).getByText('"method": "SendMessage"').waitFor()
    await rawExchange(page).getByText('"TASK_STATE_COMPLETED"').waitFor()
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('')
  })

  it.each([
    ['JSON-RPC', 'A2A 1.0', '"SendMessage"'],
    ['JSON-RPC', 'A2A 0.3', '"message/send"'],
    ['HTTP+JSON', 'A2A 1.0', '/a2a/message:send'],
    ['HTTP+JSON', 'A2A 0.3', '/a2a/v1/message:send'],
  ])('speaks %s in %s', async (binding, version, sent) => {
    const page = await open('echo')
    await page.getByText('How it is sent').click()
    await page.getByRole('combobox', { name: 'Binding' }).selectOption(binding)
    await page.getByRole('combobox', { name: 'Protocol version' }).selectOption(version)
    await send(page, 'hello')
    await waitForState(page, 'completed')
    await rawExchange(page).getByText(sent).first().waitFor()
    await send(page, 'stream a b', 'Send and stream')
    await waitForState(page, 'completed')
    expect(await page.getByRole('log').getByText('a b', { exact: true }).count()).toBe(1)
  })

  it('streams a message, whose words arrive one by one', async () => {
    const page = await open('echo')
    await send(page, 'stream one two three', 'Send and stream')
    await waitForState(page, 'working')
    await waitForState(page, 'completed')
    await page.getByRole('log').getByText('one two three', { exact: true }).waitFor()
    await rawExchange(page).getByText('[6 events]').waitFor()
  })
})

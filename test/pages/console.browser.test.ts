import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { echoManifestWith, register } from '../e2e/calls/agents.ts'
import { describeInBrowser, expectAccessible, type Problems, watch } from '../support/browser.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost, startSharedUpstream, token } from '../support/host.ts'
import { json, reply, stream, type UpstreamServer } from '../support/upstream.ts'

const taskResult = (changes: JsonObject = {}): JsonObject => ({
  task: { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_COMPLETED' }, ...changes },
})
const extension = 'https://example.com/extensions/required'
const host = sharedHost('examples')

describeInBrowser('the console of a card page', browser => {
  let upstream: UpstreamServer
  let problems: Problems = []
  beforeAll(async () => {
    upstream = await startSharedUpstream()
    const { url: _, ...nowhere } = minimalCard
    const custom = {
      ...nowhere,
      name: 'Custom',
      supportedInterfaces: [{ url: `${upstream.origin}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      ...{ capabilities: { streaming: true }, defaultInputModes: ['*/*'], defaultOutputModes: ['*/*'] },
    }
    const capabilities = { streaming: false, extensions: [{ uri: extension, required: true }] }
    await register(host, {
      'console-echo': echoManifestWith(),
      'console-strict': echoManifestWith({ card: { capabilities } }),
      'console-custom': { route: 'gateway', card: custom },
      'console-direct': { route: 'direct', card: custom },
    })
  })
  afterAll(() => upstream.close())
  afterEach(() => expect(problems).toEqual([]))

  const open = async (agent: string, options?: Parameters<typeof browser.open>[0]): Promise<Page> => {
    const page = await browser.open(options)
    problems = watch(page, host.url.origin, upstream.origin)
    await page.goto(new URL(`/agents/console-${agent}`, host.url).href)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    return page
  }
  const send = async (page: Page, text: string, action: 'Send' | 'Send and stream' = 'Send'): Promise<void> => {
    await page.getByRole('textbox', { name: /^(?:Message|Your reply)$/ }).fill(text)
    await page.getByRole('button', { name: action, exact: true }).click()
  }
  const press = (page: Page, name: string) => page.getByRole('button', { name }).click()
  const log = (page: Page) => page.getByRole('log')
  const turns = (page: Page) => log(page).locator('article')
  const waitForState = (page: Page, name: string) => turns(page).last().locator('.badge', { hasText: name }).waitFor()
  const alerts = (page: Page, text: string) => page.getByRole('alert').getByText(text).waitFor()
  const rawExchange = (page: Page) => page.getByRole('region', { name: 'Raw exchange' })
  const isSent = (page: Page, text: string) => rawExchange(page).getByText(text).first().waitFor()
  /** Returns the ids of task and context in each turn. */
  const ids = async (page: Page) =>
    (await log(page).locator('.console-ids').allTextContents()).map(text => text.split(' · '))
  const answerWith = (result: JsonObject): void =>
    upstream.respond((response, { method }, body) => {
      // What a browser asks first: this agent allows no other origin.
      if (method === 'OPTIONS') return reply(405, {}, '')(response)
      reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body.toString()).id, result }))(response)
    })

  it('sends messages that begin, follow up and answer, and shows tasks, artifacts and the raw exchange', async () => {
    const page = await open('echo')
    await send(page, 'hello <b>there</b>')
    await waitForState(page, 'completed')
    await page.getByRole('heading', { name: 'Artifact: echo' }).waitFor()
    expect(await log(page).getByText('hello <b>there</b>').count()).toBe(2)
    await isSent(page, '"method": "SendMessage"')
    await isSent(page, '"TASK_STATE_COMPLETED"')
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('')

    await send(page, 'ask')
    await waitForState(page, 'input required')
    await log(page).getByText('What shall I say?').waitFor()
    const field = page.getByRole('textbox', { name: 'Your reply' })
    await field.waitFor()
    expect(await field.evaluate('document.activeElement === document.querySelector("#console textarea")')).toBe(true)
    await page.keyboard.type('bread')
    await page.keyboard.press('Control+Enter')
    await turns(page).nth(2).locator('.badge', { hasText: 'completed' }).waitFor()
    const [first, second, third] = await ids(page)
    expect([second?.[1], third]).toEqual([first?.[1], second])
    expect(second?.[0]).not.toBe(first?.[0])

    await press(page, 'New conversation')
    await send(page, 'three')
    await waitForState(page, 'completed')
    expect(await ids(page)).toEqual([[expect.any(String), expect.not.stringContaining(first?.[1] ?? '')]])
  })

  it('speaks each version over each binding, and streams words as they arrive', async () => {
    const page = await open('echo')
    await page.getByText('How it is sent').click()
    for (const [binding, version, sent] of [
      ['JSON-RPC', 'A2A 1.0', '"SendStreamingMessage"'],
      ['HTTP+JSON', 'A2A 0.3', '/a2a/v1/message:stream'],
    ] as const) {
      await page.getByRole('combobox', { name: 'Binding' }).selectOption(binding)
      await page.getByRole('combobox', { name: 'Protocol version' }).selectOption(version)
      await send(page, `stream a ${version.length}`, 'Send and stream')
      await waitForState(page, 'working')
      await waitForState(page, 'completed')
      await turns(page).last().getByText(`a ${version.length}`, { exact: true }).waitFor()
      await isSent(page, sent)
    }
    await isSent(page, '[5 events]')
  })

  it('follows a task that returned at once, stops, follows it again, and cancels it', async () => {
    const page = await open('echo')
    await page.getByText('How it is sent').click()
    await page.getByRole('checkbox', { name: 'Return at once' }).check()
    await send(page, 'slow hello')
    await log(page).getByText('This takes half a minute.').waitFor()
    await isSent(page, '"method": "GetTask"')
    await press(page, 'Stop waiting')
    await page.getByRole('status').getByText('Stopped.').waitFor()
    await press(page, 'Follow the task')
    await isSent(page, '"method": "SubscribeToTask"')
    await press(page, 'Cancel the task')
    await waitForState(page, 'canceled')
    await isSent(page, '"method": "CancelTask"')
    await page.getByRole('button', { name: 'Cancel the task' }).waitFor({ state: 'hidden' })
    expect(await log(page).getByText('Artifact').count()).toBe(0)
  })

  it('opens with #console in the address, and explains each refusal by the card, with a button that helps', async () => {
    const page = await browser.open()
    problems = watch(page, host.url.origin)
    await page.goto(new URL('/agents/console-strict#console', host.url).href)
    await page.getByLabel('File').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('png') })
    await send(page, 'hello', 'Send and stream')
    await alerts(page, 'Because of /capabilities/streaming, line')
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('hello')
    await page.getByText('How it is sent').click()
    await page.getByText('Add JSON data').click()
    await expectAccessible(page, '#console')
    await press(page, 'Send without streaming')
    await alerts(page, 'Because of /capabilities/extensions/0')
    await press(page, 'Announce these extensions')
    await alerts(page, 'Because of /defaultInputModes')
    await press(page, 'Leave out what is image/png')
    await waitForState(page, 'completed')
    await isSent(page, `a2a-extensions: ${extension}`)
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('reads the extended card with a token, which is in no storage, no URL and not on the page', async () => {
    const page = await open('echo')
    const urls: string[] = []
    page.on('request', request => urls.push(request.url()))
    await page.getByRole('button', { name: 'Read the extended card' }).click()
    await page.getByRole('alert').getByText('The call needs a token').waitFor()
    expect(problems.splice(0)).toEqual([expect.stringContaining('401')])
    await page.getByRole('button', { name: 'Enter a token' }).click()
    await page.keyboard.type(token)
    await page.getByRole('button', { name: 'Read the extended card' }).click()
    await page.getByRole('heading', { name: 'Extended card' }).waitFor()
    await page.getByText('How it is sent').click()
    await page.getByRole('combobox', { name: 'Skill' }).selectOption('Backwards')
    await page.getByRole('button', { name: 'backwards hello' }).click()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('log').getByText('olleh').waitFor()
    await rawExchange(page).getByText('authorization: Bearer ••••••••').first().waitFor()
    const stored = await page.evaluate(`(async () => JSON.stringify([
      { ...localStorage }, { ...sessionStorage }, document.cookie, history.state, location.href, document.documentElement.outerHTML,
      await caches.keys(), (await indexedDB.databases()).length, performance.getEntries().map(({ name }) => name),
    ]))()`)
    expect(stored).not.toContain(token)
    expect(stored).toContain('"",null,"http')
    expect(urls.join()).not.toContain(token)
    await page.reload()
    await page.getByRole('button', { name: 'Open the console' }).click()
    expect(await page.getByLabel('Token', { exact: true }).inputValue()).toBe('')
  })

  it('sends no token of this host to another one, and offers the way through this host', async () => {
    const { token: issued } = await host.issue({ scopes: ['read'] })
    const page = await open('direct')
    answerWith(taskResult())
    await send(page, 'hello')
    await alerts(page, 'does not let pages of other origins read its answers (CORS)')
    expect(problems.splice(0).join()).toContain('CORS')
    upstream.requests.length = 0
    await page.getByText(`Each call sends it to ${upstream.origin}, the agent's own address`).waitFor()
    await page.getByText('Its ADMIN_TOKEN looks like any other: do not enter it here').waitFor()
    await page.getByLabel('Token', { exact: true }).fill(`Bearer ${issued}`)
    await send(page, 'hello')
    await alerts(page, 'The token was not sent')
    await press(page, 'Enter another token')
    expect(upstream.requests).toEqual([])
    await send(page, 'hello')
    await press(page, 'Send it through this host')
    await waitForState(page, 'completed')
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  it('sends no cookies, and asks for the token that the agent wants', async () => {
    const page = await open('custom')
    await page.context().addCookies([{ name: 'session', value: 'of-the-host', url: host.url.href }])
    answerWith(taskResult())
    const answered = page.waitForResponse('**/agents/console-custom/a2a')
    await send(page, 'hello')
    await waitForState(page, 'completed')
    expect(await (await answered).request().headerValue('cookie')).toBeNull()

    upstream.respond(reply(401, { 'Content-Type': 'text/html' }, 'Who are you?'))
    await send(page, 'hello again')
    await alerts(page, 'The call needs a token')
    expect(problems.splice(0)).toEqual([expect.stringContaining('401')])
    expect(await page.getByRole('alert').textContent()).not.toContain('securityRequirements')
    await press(page, 'Enter a token')
    await page.keyboard.type('agent-token')
    answerWith(taskResult())
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await turns(page).nth(1).waitFor()
    await waitForState(page, 'completed')
    expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer agent-token')
  })

  it('shows images from bytes, JSON as a tree, and other URLs as links only', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const svg = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>top.hacked=1</script></svg>',
    )
    const parts = [
      { raw: png, mediaType: 'image/png', filename: 'dot.png' },
      { raw: svg.toString('base64'), mediaType: 'image/svg+xml', filename: 'drawing.svg' },
      {
        raw: Buffer.from('<script>top.hacked=1</script>').toString('base64'),
        mediaType: 'text/html',
        filename: 'page.html',
      },
      { data: { weather: { rain: [1, 2, '<img src=x onerror=top.hacked=1>'] } } },
      { url: 'https://example.com/picture.png', mediaType: 'image/png' },
      { url: 'javascript:top.hacked=1' },
      { text: '<script>top.hacked=1</script>\u202e' },
    ]
    answerWith(taskResult({ artifacts: [{ artifactId: 'a-1', name: '<i>Everything</i>', parts }] }))
    const page = await open('custom')
    await send(page, 'hello')
    const log = page.getByRole('log')
    await log.getByRole('heading', { name: '<i>Everything</i>' }).waitFor()
    await log.getByRole('img', { name: 'drawing.svg' }).waitFor()
    expect(
      await page.evaluate(
        'Promise.all([...document.querySelectorAll("#console img")].map(each => each.decode().then(() => each.naturalWidth)))',
      ),
    ).toEqual([1, 9])
    await rawExchange(page).getByText('</script>\\u202e').waitFor()
    await log.getByText('weather').click()
    await log.getByText('rain').click()
    await log.getByText('onerror=').waitFor()
    const links = await log.getByRole('link').all()
    expect(await Promise.all(links.map(each => each.getAttribute('href')))).toEqual(['https://example.com/picture.png'])
    expect(await links[0]?.getAttribute('rel')).toBe('noopener nofollow ugc')
    const download = page.waitForEvent('download')
    await log.getByRole('button', { name: 'Save page.html' }).click()
    expect((await download).suggestedFilename()).toBe('page.html')
    expect(await page.evaluate('window.hacked')).toBe(undefined)
  })

  it('sends JSON data and files as they are', async () => {
    answerWith(taskResult())
    const page = await open('custom')
    await page.getByText('Add JSON data').click()
    await page.getByRole('textbox', { name: 'JSON data' }).fill('{"a": ')
    await page.getByLabel('File').setInputFiles({ name: 'é.bin', mimeType: '', buffer: Buffer.from([0, 255, 128]) })
    await send(page, '')
    expect(
      await page.getByRole('textbox', { name: 'JSON data' }).evaluate('document.activeElement.validationMessage'),
    ).toMatch(/^This is not JSON/)
    await page.getByRole('textbox', { name: 'JSON data' }).fill('{"a": [1]}')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await waitForState(page, 'completed')
    const { params } = JSON.parse(upstream.requests[0]?.body ?? '')
    expect(params.message.parts).toEqual([
      { data: { a: [1] }, mediaType: 'application/json' },
      { raw: 'AP+A', mediaType: 'application/octet-stream', filename: 'é.bin' },
    ])
  })

  it('keeps a part of a long stream, and says that one broke off', async () => {
    const event = (id: unknown, result: JsonObject) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`
    const update = (artifactId: string, part: JsonObject) => ({
      artifactUpdate: { taskId: 't-1', contextId: 'c-1', append: true, artifact: { artifactId, parts: [part] } },
    })
    const done = { statusUpdate: { taskId: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_COMPLETED' } } }
    upstream.respond((response, _, body) => {
      const { id } = JSON.parse(body.toString())
      response.writeHead(200, stream)
      for (let index = 0; index < 1000; index += 1)
        response.write(event(id, update(index % 2 ? `a-${index}` : 'a-0', { data: { index } })))
      response.end(event(id, done))
    })
    const page = await open('custom')
    await send(page, 'hello', 'Send and stream')
    await waitForState(page, 'completed')
    await isSent(page, '[1001 events]')
    await isSent(page, 'characters are left out]')
    expect(await page.getByText('There is more than this page shows.').count()).toBe(2)
    expect(await page.evaluate('document.querySelectorAll("#console *").length')).toBeLessThan(3000)
    expect(await page.evaluate('document.querySelector("#console").textContent.length')).toBeLessThan(200_000)

    await press(page, 'New conversation')
    upstream.respond((response, _, body) => {
      response.writeHead(200, stream)
      const text = event(JSON.parse(body.toString()).id, update('a-1', { text: 'half of it, data: ' }))
      response.write(text, () => response.destroy())
    })
    await send(page, 'hello', 'Send and stream')
    await alerts(page, 'The connection to the agent was lost before its stream ended.')
    await log(page).getByText('half of it').waitFor()
    await page.getByRole('button', { name: 'Follow the task' }).waitFor()
  })

  it('loads at most 60 KiB when it opens, and stays open whatever link to a part of the page is followed', async () => {
    const page = await browser.open({})
    problems = watch(page, host.url.origin)
    const scripts = new Map<string, Promise<Buffer>>()
    page.on('response', response => {
      if (response.url().endsWith('.js')) scripts.set(response.url(), response.body())
    })
    await page.goto(new URL('/agents/console-echo', host.url).href)
    const before = new Set(scripts.keys())
    await press(page, 'Open the console')
    await page.getByRole('textbox', { name: 'Message' }).fill('half a message')
    const loaded = await Promise.all([...scripts].filter(([url]) => !before.has(url)).map(([, body]) => body))
    const bytes = loaded.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0)
    expect(bytes).toBeLessThanOrEqual(60 * 1024)
    // The client of the SDK is in it.
    expect(bytes).toBeGreaterThan(20 * 1024)

    await page.route('**/agents/console-echo*', route => route.fulfill({ status: 429 }))
    await page.getByRole('link', { name: 'read the card as JSON' }).click()
    await page.goBack()
    await page.goForward()
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('half a message')
    expect(new URL(page.url()).hash).toBe('#document')
  })
})

import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { echoManifestWith, register } from '../e2e/calls/agents.ts'
import { describeInBrowser, findViolations } from '../support/browser.ts'
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
  let problems: string[] = []
  beforeAll(async () => {
    upstream = await startUpstream()
    host = await startHost({ ALLOWED_ORIGINS: upstream.origin }, { assets: true, examples: ['echo-agent'] })
    const required = [{ uri: 'https://example.com/extensions/required', required: true }]
    const { url: _, ...nowhere } = minimalCard
    const custom = {
      ...nowhere,
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
      named: { route: 'gateway', hosts: ['named.example'], card: custom },
      crooked: {
        route: 'direct',
        card: {
          ...custom,
          supportedInterfaces: [
            {
              url: new URL('/agents/custom/a2a/../refresh', host.url).href,
              protocolBinding: 'JSONRPC',
              protocolVersion: '1.0',
            },
          ],
        },
      },
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
  const waitForState = (page: Page, name: string) =>
    page.getByRole('log').locator('article').last().locator('.badge', { hasText: name }).waitFor()
  const rawExchange = (page: Page) => page.getByRole('region', { name: 'Raw exchange' })
  const answerWith = (result: JsonObject): void =>
    upstream.respond((response, { method }, body) => {
      // What a browser asks first: this agent allows no other origin.
      if (method === 'OPTIONS') return reply(405, {}, '')(response)
      reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body.toString()).id, result }))(response)
    })

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
  ])('speaks %s in %s: explains refused output modes, accepts others, and streams', async (binding, version, sent) => {
    const page = await open('echo')
    await page.getByText('How it is sent').click()
    await page.getByRole('combobox', { name: 'Binding' }).selectOption(binding)
    await page.getByRole('combobox', { name: 'Protocol version' }).selectOption(version)
    await page.getByRole('textbox', { name: 'Other modes' }).fill('image/png')
    await send(page, 'hello')
    await page.getByRole('alert').getByText('Because of /defaultOutputModes').waitFor()
    if (binding === 'HTTP+JSON') expect(problems.splice(0)).toEqual([expect.stringContaining('400')])
    await page.getByRole('button', { name: 'Accept text/plain' }).click()
    await waitForState(page, 'completed')
    await rawExchange(page).getByText(sent).first().waitFor()
    expect(await page.getByRole('checkbox', { name: 'text/plain' }).isChecked()).toBe(true)
    expect(await page.getByRole('textbox', { name: 'Other modes' }).inputValue()).toBe('')
    await send(page, 'stream a b', 'Send and stream')
    await page.getByRole('log').getByText('a b', { exact: true }).waitFor()
    await waitForState(page, 'completed')
  })

  it('streams a message, whose words arrive one by one', async () => {
    const page = await open('echo')
    await send(page, 'stream one two three', 'Send and stream')
    await waitForState(page, 'working')
    await waitForState(page, 'completed')
    await page.getByRole('log').getByText('one two three', { exact: true }).waitFor()
    await rawExchange(page).getByText('[6 events]').waitFor()
  })

  it('cancels a task that streams', async () => {
    const page = await open('echo')
    await send(page, 'slow hello', 'Send and stream')
    await waitForState(page, 'working')
    await page.getByRole('log').getByText('This takes half a minute.').waitFor()
    await page.getByRole('button', { name: 'Cancel the task' }).click()
    await waitForState(page, 'canceled')
    await rawExchange(page).getByText('"method": "CancelTask"').waitFor()
    await page.getByRole('button', { name: 'Cancel the task' }).waitFor({ state: 'hidden' })
    expect(await page.getByRole('log').getByText('Artifact').count()).toBe(0)
  })

  it('sends a message without waiting for the end, asks for the task, stops, and follows it again', async () => {
    const page = await open('echo')
    await page.getByText('How it is sent').click()
    await page.getByRole('checkbox', { name: 'Return at once' }).check()
    await send(page, 'slow hello')
    await rawExchange(page).getByText('"method": "GetTask"').first().waitFor()
    await page.getByRole('button', { name: 'Stop waiting' }).click()
    await page.getByRole('status').getByText('Stopped.').waitFor()
    await page.getByRole('button', { name: 'Follow the task' }).click()
    await rawExchange(page).getByText('"method": "SubscribeToTask"').waitFor()
    await page.getByRole('button', { name: 'Cancel the task' }).click()
    await waitForState(page, 'canceled')
  })

  it('answers an agent that needs input, in the same task, with the keyboard only', async () => {
    const page = await open('echo')
    await send(page, 'ask')
    await waitForState(page, 'input required')
    await page.getByRole('log').getByText('What shall I say?').waitFor()
    const reply = page.getByRole('textbox', { name: 'Your reply' })
    await reply.waitFor()
    expect(await reply.evaluate('document.activeElement === document.querySelector("#console textarea")')).toBe(true)
    await page.keyboard.type('bread')
    await page.keyboard.press('Control+Enter')
    await waitForState(page, 'completed')
    await page.getByRole('log').getByText('Artifact: echo').waitFor()
    const ids = await page.getByRole('log').locator('.console-ids').allTextContents()
    expect(ids).toHaveLength(2)
    expect(ids[1]).toBe(ids[0])
  })

  it('follows up in the same context with a new task, and begins anew', async () => {
    const page = await open('echo')
    await send(page, 'one')
    await waitForState(page, 'completed')
    await send(page, 'two')
    await page.getByRole('log').getByText('two').nth(1).waitFor()
    const ids = (await page.getByRole('log').locator('.console-ids').allTextContents()).map(text => text.split(' · '))
    expect(ids[1]?.[1]).toBe(ids[0]?.[1])
    expect(ids[1]?.[0]).not.toBe(ids[0]?.[0])
    await page.getByRole('button', { name: 'New conversation' }).click()
    await send(page, 'three')
    await waitForState(page, 'completed')
    expect(await page.getByRole('log').locator('.console-ids').allTextContents()).toHaveLength(1)
    expect(await page.getByRole('log').locator('.console-ids').textContent()).not.toContain(ids[0]?.[1])
  })

  it('explains a refused stream by the line of the card, and sends without one instead', async () => {
    const page = await open('quiet')
    await send(page, 'hello', 'Send and stream')
    const alert = page.getByRole('alert')
    await alert.getByText('Because of /capabilities/streaming, line').waitFor()
    const card = (await (await host.fetch('/agents/quiet?dialect=1.0')).json()) as JsonObject
    const line = JSON.stringify(card, null, 2)
      .split('\n')
      .findIndex(text => text.includes('"streaming": false'))
    expect(await alert.getByRole('group').textContent()).toMatch(new RegExp(`^ *${line + 1} +"streaming": false`))
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('hello')
    await alert.getByRole('button', { name: 'Send without streaming' }).click()
    await waitForState(page, 'completed')
    expect(await alert.count()).toBe(0)
  })

  it('explains a refused file, and leaves it out', async () => {
    const page = await open('echo')
    await page.getByLabel('File').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('png') })
    await send(page, 'hello')
    await page.getByRole('alert').getByText('Because of /defaultInputModes').waitFor()
    await page.getByRole('button', { name: 'Leave out what is image/png' }).click()
    await waitForState(page, 'completed')
  })

  it('announces the extensions that the card requires, once the person wants it', async () => {
    const page = await open('strict')
    await send(page, 'hello')
    await page.getByRole('alert').getByText('Because of /capabilities/extensions/0').waitFor()
    await page.getByRole('button', { name: 'Announce these extensions' }).click()
    await waitForState(page, 'completed')
    await rawExchange(page).getByText('a2a-extensions: https://example.com/extensions/required').waitFor()
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

  it('never sends a token of this host to another one', async () => {
    const { token: issued } = await host.issue({ scopes: ['read'] })
    const page = await open('direct')
    upstream.requests.length = 0
    await page.getByText(`Each call sends it to ${upstream.origin}, the agent's own address`).waitFor()
    await page.getByText('Its ADMIN_TOKEN looks like any other: do not enter it here').waitFor()
    for (const entered of [`Bearer ${issued}`, `"${issued}"`, issued]) {
      await page.getByLabel('Token', { exact: true }).fill(entered)
      await send(page, 'hello')
      await page.getByRole('alert').getByText('The token was not sent').waitFor()
      await page.getByRole('button', { name: 'Enter another token' }).click()
    }
    expect(upstream.requests).toEqual([])
    await send(page, 'hello')
    answerWith(task({}))
    await page.getByRole('button', { name: 'Send it through this host' }).click()
    await waitForState(page, 'completed')
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  it('sends no cookies, and follows no redirect', async () => {
    const page = await open('custom')
    await page.context().addCookies([{ name: 'session', value: 'of-the-host', url: host.url.href }])
    const sent: string[] = []
    page.on('request', request => void sent.push(new URL(request.url()).pathname))
    answerWith(task({}))
    const answered = page.waitForResponse('**/agents/custom/a2a')
    await send(page, 'hello')
    await waitForState(page, 'completed')
    expect(await (await answered).request().headerValue('cookie')).toBeNull()
    await page.route('**/agents/custom/a2a', route => route.fulfill({ status: 307, headers: { Location: '/nowhere' } }))
    await send(page, 'hello again')
    await page.getByRole('alert').getByText('No answer').waitFor()
    expect(sent).not.toContain('/nowhere')
    problems.length = 0
  })

  it('takes no host name that only a manifest claims for this host', async () => {
    const { token: issued } = await host.issue({ scopes: ['read'] })
    const page = await open('named')
    await page.getByLabel('Token', { exact: true }).fill(issued)
    await send(page, 'hello')
    await page.getByRole('alert').getByText('The token was not sent').waitFor()
    answerWith(task({}))
    await page.getByRole('button', { name: 'Send it through this host' }).click()
    await waitForState(page, 'completed')
  })

  it('sends no token to an address of this host that is not for calls, whatever the card says', async () => {
    const page = await open('crooked')
    const sent: string[] = []
    page.on('request', request => sent.push(request.url()))
    await page.getByLabel('Token', { exact: true }).fill(token)
    await send(page, 'hello')
    await page.getByRole('alert').getByText('The card names an address of this host that takes no calls.').waitFor()
    expect(sent).toEqual([])
  })

  it('says that an agent at another origin refuses pages, and sends the message through this host', async () => {
    const page = await open('direct')
    answerWith({ message: { messageId: 'm-1', role: 'ROLE_AGENT', parts: [{ text: 'It rains' }] } })
    await send(page, 'hello')
    await page.getByRole('alert').getByText('does not let pages of other origins read its answers (CORS)').waitFor()
    expect(problems.splice(0).join()).toContain('CORS')
    await page.getByRole('button', { name: 'Send it through this host' }).click()
    await page.getByRole('log').getByText('It rains').waitFor()
  })

  it('says that a stream broke off, keeps what arrived, and offers to follow the task', async () => {
    upstream.respond((response, _, body) => {
      const { id } = JSON.parse(body.toString())
      const artifact = { artifactId: 'a-1', parts: [{ text: 'half of it, data: ' }] }
      const result = { artifactUpdate: { taskId: 't-1', contextId: 'c-1', artifact } }
      response.writeHead(200, stream)
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`, () => response.destroy())
    })
    const page = await open('custom')
    await send(page, 'hello', 'Send and stream')
    await page.getByRole('alert').getByText('The connection to the agent was lost before its stream ended.').waitFor()
    await page.getByRole('log').getByText('half of it').waitFor()
    await page.getByRole('button', { name: 'Follow the task' }).waitFor()
  })

  it('asks for a token where the agent itself refuses the call', async () => {
    upstream.respond(reply(401, { 'Content-Type': 'text/html' }, 'Who are you?'))
    const page = await open('custom')
    await send(page, 'hello')
    await page.getByRole('alert').getByText('The call needs a token').waitFor()
    expect(problems.splice(0)).toEqual([expect.stringContaining('401')])
    expect(await page.getByRole('alert').textContent()).not.toContain('securityRequirements')
    await page.getByRole('button', { name: 'Enter a token' }).click()
    await page.keyboard.type('agent-token')
    answerWith(task({}))
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await waitForState(page, 'completed')
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer agent-token')
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
    answerWith(task({ artifacts: [{ artifactId: 'a-1', name: '<i>Everything</i>', parts }] }))
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
    answerWith(task({}))
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

  it('survives a stream of 3,000 events, of which it keeps a part', async () => {
    const count = 3000
    upstream.respond((response, _, body) => {
      const { id } = JSON.parse(body.toString())
      const event = (result: JsonObject) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`
      const update = (artifactId: string) => ({
        artifactUpdate: {
          taskId: 't-1',
          contextId: 'c-1',
          append: true,
          artifact: { artifactId, parts: [{ data: { artifactId } }] },
        },
      })
      response.writeHead(200, stream)
      for (let index = 0; index < count; index += 1) response.write(event(update(index % 2 ? `a-${index}` : 'a-0')))
      response.end(
        event({ statusUpdate: { taskId: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_COMPLETED' } } }),
      )
    })
    const page = await open('custom')
    await send(page, 'hello', 'Send and stream')
    await waitForState(page, 'completed')
    await rawExchange(page)
      .getByText(`[${count + 1} events]`)
      .waitFor()
    await rawExchange(page).getByText('characters are left out]').waitFor()
    expect(await page.getByText('There is more than this page shows.').count()).toBe(2)
    expect(await page.evaluate('document.querySelectorAll("#console *").length')).toBeLessThan(3000)
    expect(await page.evaluate('document.querySelector("#console").textContent.length')).toBeLessThan(200_000)
  })

  it('lets the person stop a stream that never pauses', async () => {
    const page = await open('custom')
    // No network is as fast as a stream that has its next event whenever it is read.
    await page.evaluate(`globalThis.fetch = async (_, { body, signal }) => {
      const { id } = JSON.parse(body)
      const status = { state: 'TASK_STATE_WORKING' }
      const result = { statusUpdate: { taskId: 't-1', contextId: 'c-1', status } }
      const events = new TextEncoder().encode(('data: ' + JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n\\n').repeat(100))
      const headers = { 'Content-Type': 'text/event-stream' }
      const pull = controller => (signal.aborted ? controller.error(signal.reason) : controller.enqueue(events))
      return new Response(new ReadableStream({ pull }), { headers })
    }`)
    await send(page, 'hello', 'Send and stream')
    await rawExchange(page).getByText('characters are left out]').waitFor()
    await page.getByRole('button', { name: 'Stop waiting' }).click()
    await page.getByRole('status').getByText('Stopped.').waitFor()
  })

  it('opens with #console in the address, and is accessible in light and dark, wide and narrow', async () => {
    const page = await browser.open()
    await page.goto(new URL('/agents/quiet#console', host.url).href)
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    await send(page, 'ask')
    await waitForState(page, 'input required')
    await send(page, 'hello', 'Send and stream')
    await page.getByRole('alert').waitFor()
    await page.getByText('How it is sent').click()
    await page.getByText('Add JSON data').click()
    for (const [colorScheme, width, rules] of [
      ['light', 1280, 'all'],
      ['dark', 320, 'style'],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      expect(await findViolations(page, rules), colorScheme).toStrictEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    }
  })

  it('stays open when a link to a part of the page is followed, even if the host responds to nothing more', async () => {
    const page = await open('echo')
    await page.getByRole('textbox', { name: 'Message' }).fill('half a message')
    await page.route('**/agents/echo*', route => route.fulfill({ status: 429 }))
    await page.getByRole('link', { name: 'read the card as JSON' }).click()
    await page.goBack()
    await page.goForward()
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('half a message')
    expect(new URL(page.url()).hash).toBe('#document')
  })

  it('says without JavaScript that it needs it, and offers nothing that does not work', async () => {
    const page = await browser.open({ javaScriptEnabled: false })
    await page.goto(new URL('/agents/echo', host.url).href)
    await page.getByText('The console needs JavaScript.').waitFor()
    expect(await page.getByRole('button', { name: 'Open the console' }).count()).toBe(0)
  })

  it('loads at most 60 KiB when it opens, and nothing but the opener before', async () => {
    const page = await browser.open()
    const scripts = new Map<string, Promise<Buffer>>()
    page.on('response', response => {
      if (response.url().endsWith('.js')) scripts.set(response.url(), response.body())
    })
    await page.goto(new URL('/agents/echo', host.url).href, { waitUntil: 'networkidle' })
    const before = new Set(scripts.keys())
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    const loaded = await Promise.all([...scripts].filter(([url]) => !before.has(url)).map(([, body]) => body))
    const bytes = loaded.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0)
    expect(bytes).toBeLessThanOrEqual(60 * 1024)
    // The client of the SDK is in it.
    expect(bytes).toBeGreaterThan(20 * 1024)
  })
})

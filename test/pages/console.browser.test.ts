import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { echoManifestWith, register, sampleManifest } from '../e2e/calls/agents.ts'
import { describeInBrowser, expectAccessible, type Problems, watch } from '../support/browser.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost, startSharedUpstream, token } from '../support/host.ts'
import { json, reply, stream, type UpstreamServer } from '../support/upstream.ts'

const taskResult = (changes: JsonObject = {}): JsonObject => ({
  task: { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_COMPLETED' }, ...changes },
})
const interfaceOf = (url: string) => ({ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' })
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
      supportedInterfaces: [interfaceOf(`${upstream.origin}/a2a`)],
      ...{ capabilities: { streaming: true }, defaultInputModes: ['*/*'], defaultOutputModes: ['*/*'] },
    }
    const echoOfHost = interfaceOf(`${host.url.origin}/agents/console-echo/a2a`)
    const capabilities = { streaming: false, extensions: [{ uri: extension, required: true }] }
    await register(host, {
      'console-echo': echoManifestWith(),
      'console-strict': echoManifestWith({ card: { capabilities } }),
      'console-custom': { route: 'gateway', card: custom },
      'console-direct': { route: 'direct', card: custom },
      'console-other': { route: 'direct', card: { ...custom, supportedInterfaces: [echoOfHost] } },
    })
  })
  afterAll(() => upstream.close())
  afterEach(() => expect(problems).toEqual([]))

  const goTo = async (id: string, options?: Parameters<typeof browser.open>[0]): Promise<Page> => {
    const page = await browser.open(options)
    problems = watch(page, host.url.origin, upstream.origin)
    await page.goto(new URL(`/agents/${id}`, host.url).href)
    return page
  }
  const open = async (agent: string, options?: Parameters<typeof browser.open>[0]): Promise<Page> => {
    const page = await goTo(`console-${agent}`, options)
    await page.getByRole('textbox', { name: 'Message' }).focus()
    await page.locator('#console [type="file"]:enabled').waitFor()
    return page
  }
  const tabTo = async (page: Page, selector: string): Promise<void> => {
    const isThere = `document.activeElement.matches(${JSON.stringify(selector)})`
    for (let count = 0; count < 80 && !(await page.evaluate(isThere)); count += 1) await page.keyboard.press('Tab')
  }
  const message = (page: Page) => page.locator('#message')
  const submit = (page: Page) => page.getByRole('button', { name: 'Send', exact: true }).click()
  const send = async (page: Page, text: string): Promise<void> => {
    await message(page).fill(text)
    await submit(page)
  }
  const choose = async (page: Page, name: string, option: string): Promise<void> => {
    const select = page.getByRole('combobox', { name })
    if (!(await select.isVisible())) await page.getByText('Options').click()
    await select.selectOption(option)
  }
  const press = (page: Page, name: string) => page.getByRole('button', { name }).click()
  const log = (page: Page) => page.getByRole('log')
  const turns = (page: Page) => log(page).locator('article')
  const waitForState = (page: Page, name: string, turn = 0) =>
    turns(page).nth(turn).locator('.badge', { hasText: name }).waitFor()
  const alerts = (page: Page, text: string) => page.getByRole('alert').getByText(text).waitFor()
  const rawExchange = (page: Page) => page.locator('.console-exchanges')
  const isSent = async (page: Page, text: string): Promise<void> => {
    if ((await rawExchange(page).getAttribute('open')) === null) await page.getByText('Raw exchange').click()
    await rawExchange(page).getByText(text).first().waitFor()
  }
  /** Returns the ids of task and context in each turn. */
  const ids = async (page: Page) => {
    const all = await turns(page).all()
    return Promise.all(all.map(turn => turn.locator('.console-id').allTextContents()))
  }
  const answerWith = (result: JsonObject): void =>
    upstream.respond((response, { method }, body) => {
      // What a browser asks first: this agent allows no other origin.
      if (method === 'OPTIONS') return reply(405, {}, '')(response)
      const { id, method: operation } = JSON.parse(body.toString())
      const document = JSON.stringify({ jsonrpc: '2.0', id, result })
      const isStream = operation === 'SendStreamingMessage'
      reply(200, isStream ? stream : json, isStream ? `data: ${document}\n\n` : document)(response)
    })

  it('opens in place of its form, with what was typed, and sends messages that begin, continue and reply', async () => {
    const page = await goTo('console-echo')
    await message(page).evaluate('document.querySelector("#console").scrollIntoView()')
    const place =
      'JSON.stringify([...document.querySelectorAll("#console :is(textarea, [type=submit], summary)")].map(each => each.getBoundingClientRect()))'
    const before = await page.evaluate(place)
    await tabTo(page, '#message')
    await page.keyboard.press('End')
    await page.keyboard.type(' <b>there</b>')
    await page.keyboard.press('ArrowLeft')
    await page.locator('#console [type="file"]:enabled').waitFor()
    expect(await page.evaluate(place)).toBe(before)
    await page.keyboard.type('!')
    await page.keyboard.press('Control+Enter')
    await waitForState(page, 'completed')
    expect(await log(page).getByText('hello <b>there</b!>').count()).toBe(2)
    expect(await rawExchange(page).locator('pre').count()).toBe(0)
    await tabTo(page, '.console-exchanges > summary')
    await page.keyboard.press('Enter')
    await isSent(page, '"method": "SendStreamingMessage"')
    await isSent(page, '"TASK_STATE_COMPLETED"')
    expect(await message(page).inputValue()).toBe('')

    await send(page, 'ask')
    await waitForState(page, 'input required')
    await log(page).getByText('What shall I say?').waitFor()
    await page.getByRole('textbox', { name: 'Your reply' }).waitFor()
    expect(await message(page).evaluate('document.activeElement?.id')).toBe('message')
    await page.keyboard.type('bread')
    await page.keyboard.press('Control+Enter')
    await turns(page).nth(2).waitFor()
    await waitForState(page, 'completed')
    expect(await turns(page).getByRole('button').allTextContents()).toEqual([])
    const [third, second, first] = await ids(page)
    expect([second?.[1], third]).toEqual([first?.[1], second])
    expect(second?.[0]).not.toBe(first?.[0])

    await choose(page, 'This message', 'Start a new conversation')
    await send(page, 'three')
    await waitForState(page, 'completed')
    expect(await ids(page)).toEqual([[expect.any(String), expect.not.stringContaining(first?.[1] ?? '')]])

    await send(page, 'slow')
    await waitForState(page, 'working')
    await press(page, 'Stop waiting')
    await page.getByRole('button', { name: 'Follow the task' }).waitFor()
    const buttons = turns(page).getByRole('button')
    expect(await buttons.allTextContents()).toEqual(['Follow the task', 'Cancel the task'])
    await press(page, 'Cancel the task')
    await waitForState(page, 'canceled')
    expect(await buttons.allTextContents()).toEqual([])
  })

  it('sends the example of each sample agent with one click', async () => {
    const everyField = sampleManifest('every-field')
    // It needs a key to sign with, which this host does not have.
    const { identity: _, ...upstream } = everyField.upstream as JsonObject
    await register(host, {
      'console-tools': sampleManifest('tool-box'),
      'console-relay': sampleManifest('relay'),
      'console-every-field': { ...everyField, upstream, hosts: [] },
    })
    for (const [id, response, takesToken] of [
      ['echo', 'hello', false],
      ['tools', '1 word', false],
      ['relay', 'hello', true],
      ['every-field', 'hello', true],
    ] as const) {
      const page = await goTo(`console-${id}`)
      if (takesToken) {
        await message(page).focus()
        await page.locator('#console [type="file"]:enabled').waitFor()
        expect(await page.getByLabel('Token', { exact: true }).isVisible()).toBe(false)
        await page.getByText('Token (the agent asks for one)').click()
        await page.getByLabel('Token', { exact: true }).fill(token)
      }
      await submit(page)
      await waitForState(page, 'completed')
      await turns(page).locator('.console-response').getByText(response, { exact: true }).waitFor()
    }
    const page = await goTo('console-tools')
    const place = 'document.querySelector("#console [type=submit]").getBoundingClientRect().y'
    await page.locator('#skill').selectOption('draw_pattern')
    const before = await page.evaluate(place)
    await message(page).focus()
    await page.locator('#console [type="file"]:enabled').waitFor()
    expect([await page.evaluate(place), await message(page).inputValue()]).toEqual([
      before,
      expect.stringContaining('draw'),
    ])
    await submit(page)
    await waitForState(page, 'completed')
    await log(page).getByRole('img').waitFor()
    await page.getByRole('button', { name: 'How many words are these?' }).click()
    await page.keyboard.press('Control+Enter')
    await log(page).getByText('5 words').waitFor()
  })

  it('says that it could not be loaded, and loads when the person tries again', async () => {
    const page = await browser.open({})
    problems = watch(page, host.url.origin)
    const isConsole = (url: URL) => url.pathname.startsWith('/assets/') && !loaded.has(url.pathname)
    const loaded = new Set<string>()
    page.on('response', response => void loaded.add(new URL(response.url()).pathname))
    await page.goto(new URL('/agents/console-echo', host.url).href, { waitUntil: 'networkidle' })
    await page.route(isConsole, route => route.abort())
    await send(page, 'hello again')
    await page.getByRole('status').getByText('The console could not be loaded.').waitFor()
    await page.unrouteAll()
    expect(problems.splice(0).join()).toContain('ERR_FAILED')
    expect(await message(page).inputValue()).toBe('hello again')
    await press(page, 'Try again')
    await waitForState(page, 'completed')
    await log(page).locator('.console-response').getByText('hello again').waitFor()

    upstream.respond(() => {})
    const silent = await open('custom')
    await send(silent, 'hello')
    await waitForState(silent, 'waiting')
    await press(silent, 'Stop waiting')
    await silent.getByRole('status').getByText('Stopped.').waitFor()
    expect(await message(silent).inputValue()).toBe('hello')
  })

  it('opens with #console in the address, and explains each refusal by the card, with a button that helps', async () => {
    const page = await browser.open()
    problems = watch(page, host.url.origin)
    await page.goto(new URL('/agents/console-strict#console', host.url).href)
    await page.locator('#console [type="file"]:enabled').waitFor()
    expect(await message(page).evaluate('document.activeElement?.id')).toBe('message')
    await page.getByLabel('File').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('png') })
    await choose(page, 'Response', 'as a stream')
    await send(page, 'hello')
    await alerts(page, 'Because of /capabilities/streaming, line')
    await page.getByRole('link', { name: /^line \d+ of the card$/ }).click()
    expect(await page.locator('#document').isVisible()).toBe(true)
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('hello')
    await page.getByText('Token', { exact: true }).first().click()
    await page.getByText('Raw exchange').click()
    await expectAccessible(page, '#console')
    await press(page, 'Send without streaming')
    await alerts(page, 'Because of /capabilities/extensions/0')
    await press(page, 'Announce these extensions')
    await alerts(page, 'Because of /defaultInputModes')
    await press(page, 'Send without the image/png part')
    await waitForState(page, 'completed')
    await isSent(page, `a2a-extensions: ${extension}`)
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('reads the extended card with a token, which is in no storage, no URL and not on the page', async () => {
    const page = await open('echo')
    const urls: string[] = []
    page.on('request', request => urls.push(request.url()))
    await page.getByText('Token', { exact: true }).first().click()
    await page.getByRole('button', { name: 'Read the extended card' }).click()
    await page.getByRole('alert').getByText('The call needs a token').waitFor()
    expect(problems.splice(0)).toEqual([expect.stringContaining('401')])
    await page.getByRole('button', { name: 'Enter a token' }).click()
    await page.keyboard.type(token)
    await page.getByRole('button', { name: 'Read the extended card' }).click()
    await page.getByText('The extended card is below.').waitFor()
    await choose(page, 'Skill', 'Backwards')
    await send(page, 'backwards hello')
    await page.getByRole('log').getByText('olleh').waitFor()
    await isSent(page, 'authorization: Bearer ••••••••')
    const stored = await page.evaluate(`(async () => JSON.stringify([
      { ...localStorage }, { ...sessionStorage }, document.cookie, history.state, location.href, document.documentElement.outerHTML,
      await caches.keys(), (await indexedDB.databases()).length, performance.getEntries().map(({ name }) => name),
    ]))()`)
    expect(stored).not.toContain(token)
    expect(stored).toContain('"",null,"http')
    expect(urls.join()).not.toContain(token)
    await page.reload()
    await message(page).focus()
    expect(await page.getByLabel('Token', { exact: true }).inputValue()).toBe('')
  })

  it('sends no token of this host to another one, and offers the way through this host', async () => {
    const { token: issued } = await host.issue({ scopes: ['read'] })
    const page = await open('direct')
    answerWith(taskResult())
    await send(page, 'hello')
    await alerts(page, 'does not let pages of other origins read its responses (CORS)')
    expect(problems.splice(0).join()).toContain('CORS')
    upstream.requests.length = 0
    await page.getByText('Token', { exact: true }).first().click()
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

  it('sends no token to another agent of this host that the card names', async () => {
    const page = await open('other')
    await page.getByText('Token', { exact: true }).first().click()
    await page.getByLabel('Token', { exact: true }).fill('agent-token')
    await send(page, 'hello')
    await alerts(page, 'another agent could receive the token')
    await page.getByLabel('Token', { exact: true }).fill('')
    await send(page, 'hello')
    await waitForState(page, 'completed')
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
    await page.getByText('Token', { exact: true }).first().click()
    answerWith(taskResult({ status: { state: 'TASK_STATE_AUTH_REQUIRED' } }))
    await send(page, 'hello again')
    await page.getByRole('status').getByText('enter it, then reply').waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('token')
  })

  it('scrolls to the response on a phone, unless the person has scrolled meanwhile', async () => {
    const page = await open('echo', { viewport: { width: 390, height: 844 } })
    const inSight =
      '(({ top, bottom }) => top >= 0 && bottom < innerHeight + 1)(document.querySelector(".console-turn").getBoundingClientRect())'
    const formHeight = 'document.querySelector(".console-form").offsetHeight'
    const height = await page.evaluate(formHeight)
    await send(page, 'ask')
    await waitForState(page, 'input required')
    await expect.poll(() => page.evaluate(inSight)).toBe(true)
    // What the reply continues can be chosen now, in the place that the form had for it.
    await page.getByRole('combobox', { name: 'This message' }).waitFor()
    expect(await page.evaluate(formHeight)).toBe(height)
    const { promise: arrival, resolve: arrive } = Promise.withResolvers<void>()
    await page.route('**/a2a', route => arrival.then(() => route.continue()))
    await send(page, 'hello again')
    await waitForState(page, 'waiting')
    await page.evaluate('scrollTo(0, 0)')
    arrive()
    await waitForState(page, 'completed')
    expect(await page.evaluate('scrollY')).toBe(0)
  })

  it('shows images, sounds and files from bytes, data as tables and text, and other URLs as links only', async () => {
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
        filename: '../page\u202e.html',
      },
      { raw: Buffer.from('RIFF').toString('base64'), mediaType: 'audio/wav', filename: 'beep.wav' },
      { data: { weather: { rain: [1, 2, '<img src=x onerror=top.hacked=1>'] }, long: 'x'.repeat(500) } },
      { data: { small: { tree: 'is open' } } },
      {
        data: [
          { day: 'Monday', '<i>': 1 },
          { day: 'Tuesday', wind: null },
        ],
      },
      { data: { unit: 'mm' } },
      { url: 'https://example.com/picture.png', mediaType: 'image/png' },
      { url: 'https://files.example/x', filename: 'report.pdf' },
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
    expect(await log.locator('audio[controls]').getAttribute('src')).toBe('data:audio/wav;base64,UklGRg==')
    expect(await log.getByRole('table').first().locator('tr').allTextContents()).toEqual([
      ...['day<i>wind', 'Monday1', 'Tuesdaynull'],
    ])
    await log.getByRole('rowheader', { name: 'unit' }).waitFor()
    await isSent(page, '</script>\\u202e')
    await log.getByText('"small": {').waitFor()
    await log.getByText('onerror=').waitFor()
    const links = await log.getByRole('link').all()
    expect(await Promise.all(links.map(each => each.getAttribute('href')))).toEqual([
      ...['https://example.com/picture.png', 'https://files.example/x'],
    ])
    await log.getByText('report.pdf (files.example)').waitFor()
    expect(await links[0]?.getAttribute('rel')).toBe('noopener nofollow ugc')
    const download = page.waitForEvent('download')
    await log.getByRole('button', { name: 'Save ../page\\u202e.html' }).click()
    expect(await log.locator('figcaption bdi').allTextContents()).toContain('../page\\u202e.html')
    expect((await download).suggestedFilename()).toBe('_page_.html')
    expect(await page.evaluate('window.hacked')).toBe(undefined)
  })

  it('sends JSON data and files as they are', async () => {
    answerWith(taskResult())
    const page = await open('custom')
    await choose(page, 'Format', 'JSON data')
    await page.getByLabel('File').setInputFiles({ name: 'é.bin', mimeType: '', buffer: Buffer.from([0, 255, 128]) })
    await send(page, '{"a": ')
    expect(await message(page).evaluate('document.activeElement.validationMessage')).toBe('This is not JSON.')
    await send(page, '{"a": [1]}')
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
    await send(page, 'hello')
    await waitForState(page, 'completed')
    await isSent(page, '[1001 events]')
    await isSent(page, 'characters are left out]')
    expect(await page.getByText('There is more than this page shows.').count()).toBe(2)
    expect(await page.evaluate('document.querySelectorAll("#console *").length')).toBeLessThan(3000)
    expect(await page.evaluate('document.querySelector("#console").textContent.length')).toBeLessThan(200_000)

    await choose(page, 'This message', 'Start a new conversation')
    upstream.respond((response, _, body) => {
      response.writeHead(200, stream)
      const text = event(JSON.parse(body.toString()).id, update('a-1', { text: 'half of it, data: ' }))
      response.write(text, () => response.destroy())
    })
    await send(page, 'hello')
    await alerts(page, 'The connection to the agent was lost before its stream ended.')
    await log(page).getByText('half of it').waitFor()
    await page.getByRole('button', { name: 'Follow the task' }).waitFor()

    await choose(page, 'This message', 'Start a new conversation')
    const large = event(1, update('a-1', { text: 'x'.repeat(2 ** 22) }))
    await page.route('**/a2a', route => route.fulfill({ headers: stream, body: large }))
    await send(page, 'hello')
    await alerts(page, 'An event of the stream is larger than 4 MiB')
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
    const { promise: arrival, resolve: arrive } = Promise.withResolvers<void>()
    await page.route('**/assets/*', route => arrival.then(() => route.continue()))
    await send(page, '')
    await page.getByRole('status').getByText('Loading …').waitFor()
    await message(page).fill('half a message')
    arrive()
    await waitForState(page, 'completed')
    await page.unrouteAll()
    await log(page).locator('.console-response').getByText('half a message').waitFor()
    await message(page).fill('half a message')
    const loaded = await Promise.all([...scripts].filter(([url]) => !before.has(url)).map(([, body]) => body))
    const bytes = loaded.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0)
    expect(bytes).toBeLessThanOrEqual(60 * 1024)
    // The client of the SDK is in it.
    expect(bytes).toBeGreaterThan(20 * 1024)

    await page.route('**/agents/console-echo*', route => route.fulfill({ status: 429 }))
    await page.evaluate("location.hash = 'document'")
    await page.goBack()
    await page.goForward()
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('half a message')
    expect(new URL(page.url()).hash).toBe('#document')
  })
})

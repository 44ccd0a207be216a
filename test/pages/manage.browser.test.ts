import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { describeInBrowser, findViolations } from '../support/browser.ts'
import { call } from '../support/calls.ts'
import { agentCard, minimalCard } from '../support/cards/cards.ts'
import { token as adminToken, type OwnHost, startHost } from '../support/host.ts'
import { makeSigningKey } from '../support/signing-key.ts'
import { json, reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'

const skill = (id: string, more: JsonObject = {}) => ({ id, name: id, description: 'D', tags: ['t'], ...more })
const first = { ...minimalCard, name: 'First', version: '1.0.0', skills: [skill('forecast')] }
const second = { ...first, name: 'Second', skills: [skill('history')] }
const hostile = '<img src=x onerror="document.title=`hacked`">'

describeInBrowser('the page of owners', browser => {
  let host: OwnHost
  let upstream: UpstreamServer
  /** May write `team-*`. */
  let writer: { id: string; token: string }
  beforeAll(async () => {
    upstream = await startUpstream()
    host = await startHost(
      { ALLOWED_ORIGINS: upstream.origin, SIGNING_KEY: JSON.stringify(makeSigningKey()) },
      { assets: true },
    )
    await host.put('other', { ...minimalCard, name: 'Other' })
    await host.put('team-open', { ...minimalCard, name: 'Open', description: hostile })
    await host.put('team-inner', { card: { ...minimalCard, name: 'Inner' }, visibility: 'internal', set: 'team' })
    writer = await host.issue({ scopes: ['write'], agents: ['team-*'], note: 'Team' })
  })
  afterAll(async () => {
    await host.close()
    await upstream.close()
  })

  /** Opens the page, enters a token, and waits until it is accepted. */
  const enter = async (token: string, hash = '', options = {}): Promise<Page> => {
    const page = await browser.open(options)
    await page.goto(new URL(`/manage${hash}`, host.url).href)
    await page.getByLabel('Token with the scope').fill(token)
    await page.getByRole('button', { name: 'Use this token' }).click()
    await page.getByRole('region', { name: 'Your token' }).waitFor()
    return page
  }
  const status = (page: Page, text: string) => page.locator('#status').getByText(text).waitFor()
  const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
  const focused = (page: Page) => page.evaluate('document.activeElement.textContent')
  const agentNames = (page: Page) => page.locator('#view').getByRole('heading', { level: 3 }).allTextContents()

  it.each([
    ['an unknown token', 'cc_wrong', 'The bearer token is malformed'],
    ['what cannot be sent', 'pass word', 'This is not a token'],
  ])('refuses %s, and asks for another one', async (_, token, message) => {
    const page = await browser.open()
    await page.goto(new URL('/manage', host.url).href)
    await page.getByLabel('Token with the scope').fill(token)
    await page.getByRole('button', { name: 'Use this token' }).click()
    await status(page, message)
    const field = page.getByLabel('Token with the scope')
    expect([await field.inputValue(), await page.evaluate('document.activeElement.id')]).toEqual(['', 'token'])
    expect(await page.locator('#view').textContent()).toBe('')
  })

  it('says what a token lacks that can only read', async () => {
    const { token } = await host.issue({ scopes: ['read'] })
    const page = await browser.open()
    await page.goto(new URL('/manage', host.url).href)
    await page.getByLabel('Token with the scope').fill(token)
    await page.getByRole('button', { name: 'Use this token' }).click()
    await status(page, 'This token cannot manage agents: it has the scope read only.')
  })

  it('says what a token may do, and lists the agents that it covers, internal ones too', async () => {
    const page = await enter(writer.token)
    const session = part(page, 'Your token')
    expect(await session.textContent()).toContain(`The token ${writer.id} (Team)`)
    expect(await session.textContent()).toContain('It may register, change, remove and refresh the agents team-*')
    await page.getByText('2 agents').waitFor()
    expect(await agentNames(page)).toEqual(['Inner', 'Open'])
    expect(await page.getByRole('listitem').filter({ hasText: 'team-inner' }).textContent()).toContain('internal')
    expect(await focused(page)).toBe('Agents')
    expect(await page.locator('#view img').count()).toBe(0)
    await page.getByText(hostile).waitFor()
    expect(await page.title()).toBe('Agents · Manage agents')
    expect(await page.getByRole('link', { name: 'Tokens' }).count()).toBe(0)
  })

  it('filters the agents while somebody types, and says so where there is none', async () => {
    const page = await enter(writer.token)
    await page.getByRole('searchbox').fill('inner')
    await page.getByText('1 agent with these words').waitFor()
    expect(await agentNames(page)).toEqual(['Inner'])
    await page.getByRole('searchbox').fill('nothing')
    await page.getByText('No agent has these words.').waitFor()
  })

  it('has pages of agents, and moves the focus to the first of the next one', async () => {
    const numbers = Array.from({ length: 26 }, (_, index) => 10 + index)
    await Promise.all(numbers.map(number => host.put(`page-${number}`, { ...minimalCard, name: `P${number}` })))
    const { token } = await host.issue({ scopes: ['write'], agents: ['page-*'] })
    const page = await enter(token)
    await page.getByText('The first 24 agents').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('26 agents', { exact: true }).waitFor()
    expect(await focused(page)).toContain('P34')
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
  })

  it('stores the token nowhere, keeps it while views change, and forgets it', async () => {
    const page = await enter(writer.token)
    await page.getByRole('link', { name: 'Inner' }).click()
    await page.getByRole('heading', { name: 'team-inner', level: 2 }).waitFor()
    expect(page.url()).toBe(new URL('/manage#agents/team-inner', host.url).href)
    await page.getByRole('link', { name: 'Skip to the content' }).press('Enter')
    expect(await focused(page)).toContain('team-inner')
    const stored = await page.evaluate(
      'JSON.stringify([localStorage, sessionStorage, document.cookie, history.state, document.documentElement.outerHTML, [...document.querySelectorAll("input")].map(({ value }) => value)])',
    )
    expect(stored).not.toContain(writer.token)
    expect(await page.context().cookies()).toEqual([])
    expect(await page.evaluate('indexedDB.databases().then(({ length }) => length)')).toBe(0)
    await page.getByRole('button', { name: 'Forget the token' }).click()
    await status(page, 'This page has forgotten the token.')
    expect(await page.locator('#view').textContent()).toBe('')
    await page.evaluate('location.hash = "#agents/team-open"')
    expect(await page.locator('#view').textContent()).toBe('')
    expect(await page.getByLabel('Token with the scope').inputValue()).toBe('')
  })

  it('forgets the token when the page is left, which a browser may show again', async () => {
    const page = await enter(writer.token)
    await page.getByText('2 agents').waitFor()
    await page.evaluate('dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))')
    expect(await page.locator('#view').textContent()).toBe('')
    expect(await page.getByLabel('Token with the scope').isVisible()).toBe(true)
  })

  it('says when the host cannot be reached, and tries again', async () => {
    const page = await enter(writer.token)
    await page.getByText('2 agents').waitFor()
    await page.route('**/revisions?limit=20', route => route.abort())
    await page.getByRole('link', { name: 'Inner' }).click()
    const revisions = part(page, 'Revisions')
    await revisions.getByText('This host cannot be reached right now.').waitFor()
    await part(page, 'Report').getByText('Found: ').waitFor()
    await page.unroute('**/revisions?limit=20')
    await revisions.getByRole('button', { name: 'Try again' }).click()
    await revisions.getByRole('heading', { name: 'Revision 1' }).waitFor()
  })

  it('asks for another token when the host no longer accepts the one in use', async () => {
    const { token, id } = await host.issue({ scopes: ['write'], agents: ['team-*'] })
    const page = await enter(token)
    await page.getByText('2 agents').waitFor()
    await host.fetch(`/tokens/${id}`, { method: 'DELETE', headers: { Authorization: `Bearer ${adminToken}` } })
    await page.getByRole('link', { name: 'Inner' }).click()
    await status(page, 'Enter another one.')
    expect(await page.locator('#view').textContent()).toBe('')
  })

  it('says which scope or agent a token lacks', async () => {
    const page = await enter(writer.token, '#agents/other')
    await page.locator('#view').getByText('The scope write of this token does not cover agent "other"').waitFor()
    expect(await page.getByRole('heading', { level: 2 }).textContent()).toBe('other')
  })

  it('shows the card of an internal agent, and the report on its manifest', async () => {
    const page = await enter(writer.token, '#agents/team-inner')
    const card = page.getByRole('region', { name: 'The card of team-inner' })
    await card.waitFor()
    expect(await card.textContent()).toContain('"name": "Inner"')
    const report = part(page, 'Report')
    await report.getByText('Found: ').waitFor()
    await report
      .getByText(/\(skill-\w+|\(\w+-\w+/)
      .first()
      .waitFor()
    await report.getByText('Filled in (').click()
    await report.getByRole('listitem').filter({ hasText: '/defaultInputModes' }).last().waitFor()
    await report.getByText('Signatures (').click()
    await report.getByRole('listitem').filter({ hasText: 'signed by this host' }).waitFor()
  })

  it('compares revisions, and goes back to one after a confirmation that says what changes', async () => {
    await host.put('team-moving', first)
    await host.put('team-moving', second)
    const page = await enter(writer.token, '#agents/team-moving')
    const revisions = part(page, 'Revisions')
    await revisions.getByRole('button', { name: 'What it changed in revision 2' }).click()
    await revisions.getByText('skill `forecast`'.replaceAll('`', '')).first().waitFor()
    expect(await focused(page)).toBe('From revision 1 to 2: breaking')
    await revisions.getByText('What changed in the manifest').click()
    await revisions.getByText('/name').first().waitFor()

    const goBack = revisions.getByRole('button', { name: 'Go back to this revision 1' })
    await goBack.click()
    const dialog = page.getByRole('dialog', { name: 'Go back to revision 1 of team-moving?' })
    expect(await dialog.textContent()).toMatch(/breaking.*skill history/s)
    expect(await findViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    expect(await dialog.count()).toBe(0)
    expect(await revisions.getByRole('listitem').filter({ hasText: 'Revision 3' }).count()).toBe(0)

    await goBack.press('Enter')
    await dialog.getByRole('button', { name: 'Go back to revision 1' }).press('Enter')
    await status(page, 'Revision 3 has the manifest of revision 1 again.')
    await revisions.getByRole('heading', { name: 'Revision 3' }).waitFor()
    expect(await focused(page)).toBe('team-moving')
    expect(await (await host.fetch('/agents/team-moving')).json()).toMatchObject({ name: 'First' })
  })

  it('does not go back over a change that it has not shown', async () => {
    await host.put('team-raced', first)
    await host.put('team-raced', second)
    const page = await enter(writer.token, '#agents/team-raced')
    const revisions = part(page, 'Revisions')
    await revisions.getByRole('button', { name: 'Go back to this revision 1' }).waitFor()
    await host.put('team-raced', { ...second, name: 'Third' })
    await revisions.getByRole('button', { name: 'Go back to this revision 1' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Go back to revision 1' }).click()
    await revisions.getByText('has changed since you read it').waitFor()
    expect(await (await host.fetch('/agents/team-raced')).json()).toMatchObject({ name: 'Third' })
  })

  /** Makes the upstream serve a card. */
  const serve = (card: JsonObject) => upstream.respond(reply(200, json, JSON.stringify(card)))
  const quiet = { streaming: false, pushNotifications: false, extendedAgentCard: false }
  const putRemote = (id: string, more: JsonObject = {}) =>
    host.put(id, { upstream: { card: `${upstream.origin}/card.json`, ...more } })
  const nameOf = async (id: string) => ((await (await host.fetch(`/agents/${id}`)).json()) as JsonObject).name

  it('shows that the card of a manifest has no source', async () => {
    const page = await enter(writer.token, '#agents/team-open')
    await part(page, 'Source').getByText('The card is in the manifest').waitFor()
    expect(await page.getByRole('button', { name: 'Fetch the card now' }).count()).toBe(0)
  })

  it('fetches a remote card, shows its drift, and the report on what was fetched', async () => {
    serve(agentCard(upstream.origin, { name: 'Before', capabilities: quiet }))
    await host.put('team-remote', { visibility: 'internal', upstream: { card: `${upstream.origin}/card.json` } })
    const page = await enter(writer.token, '#agents/team-remote')
    await part(page, 'Source').getByText('The card is fresh').waitFor()
    await part(page, 'Report').getByText('This is about the card that was fetched').waitFor()
    await part(page, 'Report').getByText('Found: ').waitFor()
    expect(await part(page, 'Report').textContent()).not.toContain('private-url')
    serve(agentCard(upstream.origin, { name: 'After', capabilities: quiet }))
    await page.getByRole('button', { name: 'Fetch the card now' }).click()
    await status(page, 'The card was fetched, and has changed.')
    await part(page, 'Revisions').getByText('What changed in the fetched card (1)').click()
    await part(page, 'Revisions')
      .getByRole('listitem')
      .filter({ hasText: '/name changed: "Before" → "After"' })
      .last()
      .waitFor()
    await page.getByText(`Fetched on request of the token ${writer.id}`).waitFor()
    upstream.respond(reply(500, json, '{}'))
    await page.getByRole('button', { name: 'Fetch the card now' }).click()
    await part(page, 'Source').getByText('The card that was served before, if any, is still served.').waitFor()
  })

  it('accepts a pending card after a confirmation that says what it widens', async () => {
    serve(agentCard(upstream.origin, { name: 'Before', capabilities: quiet }))
    await putRemote('team-pinned', { pin: true })
    serve(agentCard(upstream.origin, { name: 'After', capabilities: { ...quiet, streaming: true } }))
    const page = await enter(writer.token, '#agents/team-pinned')
    await page.getByRole('button', { name: 'Fetch the card now' }).click()
    await status(page, 'A new card was fetched, and waits for you')
    await part(page, 'Source').getByText('Why the new card waits').waitFor()
    expect(await nameOf('team-pinned')).toBe('Before')
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Accept this card' }).click()
    const dialog = page.getByRole('dialog', { name: 'Accept the new card of team-pinned?' })
    expect(await dialog.textContent()).toContain('/capabilities/streaming')
    await dialog.getByRole('button', { name: 'Accept this card' }).click()
    await status(page, 'The card is accepted')
    await part(page, 'Source').getByText('The card is fresh').waitFor()
    expect(await nameOf('team-pinned')).toBe('After')
  })

  it('does not accept another card than the one that it has shown', async () => {
    serve(agentCard(upstream.origin, { name: 'Before', capabilities: quiet }))
    await putRemote('team-repinned', { pin: true })
    serve(agentCard(upstream.origin, { name: 'Seen', capabilities: { ...quiet, streaming: true } }))
    const refresh = () =>
      host.fetch('/agents/team-repinned/refresh', {
        method: 'POST',
        headers: { Authorization: `Bearer ${adminToken}` },
      })
    await refresh()
    const page = await enter(writer.token, '#agents/team-repinned')
    await page.getByRole('button', { name: 'Accept this card' }).waitFor()
    serve(agentCard(upstream.origin, { name: 'Unseen', capabilities: { ...quiet, pushNotifications: true } }))
    await refresh()
    await page.getByRole('button', { name: 'Accept this card' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Accept this card' }).click()
    await part(page, 'Source').getByText('has no pending card with that etag').waitFor()
    expect(await nameOf('team-repinned')).toBe('Before')
  })

  it('compares the calls of an agent with its card, in words', async () => {
    await host.put('team-called', {
      card: agentCard(upstream.origin, { capabilities: { ...quiet, streaming: true } }),
      route: 'gateway',
    })
    const page = await enter(writer.token, '#agents/team-called')
    await part(page, 'Observed calls').getByText('No calls in the last 30 days.').waitFor()
    const error = { code: -32004, message: 'No' }
    upstream.respond(reply(200, json, JSON.stringify({ jsonrpc: '2.0', id: 7, error })))
    for (let time = 0; time < 3; time++)
      await host.fetch('/agents/team-called/a2a', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
        body: JSON.stringify(call('SendStreamingMessage')),
      })
    await page.reload()
    await page.getByLabel('Token with the scope').fill(writer.token)
    await page.getByLabel('Token with the scope').press('Enter')
    const observed = part(page, 'Observed calls')
    await observed.getByText('3 calls since').waitFor()
    await observed.getByText('100 % of the calls had no result: 3 calls with -32004.').waitFor()
    await observed.getByText('Streams: 3 refused as not supported.').waitFor()
    await observed.getByText('The card differs from what the calls have shown in 1 place.').waitFor()
    await observed.getByText('To correct the card, write false at /capabilities/streaming.').waitFor()
  })

  it('issues a token, shows it once, and revokes it after a confirmation', async () => {
    const page = await enter(adminToken, '#tokens')
    await page.getByText('Issued tokens').first().waitFor()
    const form = page.getByRole('form', { name: 'Issue a token' })
    await form.getByRole('button', { name: 'Issue the token' }).click()
    await form.getByText('No token was issued.').waitFor()
    await form.getByRole('checkbox', { name: 'write' }).check()
    await form.getByRole('textbox', { name: 'Agents' }).fill('team-a, team-b*')
    await form.getByRole('textbox', { name: 'Tiers' }).fill('partner')
    await form.getByRole('textbox', { name: 'Note' }).fill(hostile)
    await form.getByRole('button', { name: 'Issue the token' }).press('Enter')
    const shown = part(page, 'New token')
    const text = (await shown.locator('.secret').textContent()) ?? ''
    expect(text).toMatch(/^cc_/)
    expect(await focused(page)).toBe(`Token ${text.split('_')[1]}`)
    expect(await findViolations(page)).toEqual([])
    const headers = { Authorization: `Bearer ${text}` }
    const grant = (await (await host.fetch('/tokens/self', { headers })).json()) as { id: string; expires: string }
    expect(grant).toMatchObject({ scopes: ['write'], agents: ['team-a', 'team-b*'], tiers: ['partner'], note: hostile })
    const days = (Date.parse(grant.expires) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(29)
    expect(days).toBeLessThanOrEqual(30)

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await shown.getByRole('button', { name: 'Copy the token' }).click()
    await shown.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text)
    await shown.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Its text is no longer shown.').waitFor()
    expect(await page.content()).not.toContain(text)

    await page.getByRole('button', { name: `Revoke the token ${grant.id}` }).click()
    const dialog = page.getByRole('dialog', { name: `Revoke the token ${grant.id}?` })
    expect(await dialog.textContent()).toContain(
      'It may register, change, remove and refresh the agents team-a and team-b*',
    )
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect((await host.fetch('/tokens/self', { headers })).status).toBe(200)
    await page.getByRole('button', { name: `Revoke the token ${grant.id}` }).click()
    await dialog.getByRole('button', { name: 'Revoke the token' }).click()
    await status(page, `The token ${grant.id} is revoked.`)
    expect((await host.fetch('/tokens/self', { headers })).status).toBe(401)
    await page.getByRole('button', { name: `Revoke the token ${writer.id}` }).waitFor()
    expect(await page.getByRole('button', { name: `Revoke the token ${grant.id}` }).count()).toBe(0)
    expect(await page.title()).toBe('Tokens · Manage agents')
  })

  it('warns before the token in use is revoked, and asks for another one', async () => {
    const { token, id } = await host.issue({ scopes: ['admin'] })
    const page = await enter(token, '#tokens')
    await page.getByRole('button', { name: `Revoke the token ${id}` }).click()
    await page.getByRole('dialog').getByText('This is the token that you use now.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke the token' }).click()
    await status(page, 'Enter another one.')
    expect(await page.locator('#view').textContent()).toBe('')
  })

  it('says that a token for agents cannot open tokens and audit', async () => {
    const page = await enter(writer.token, '#tokens')
    await page.getByText('This token lacks the scope admin').waitFor()
    await page.evaluate('location.hash = "#audit"')
    await page.getByRole('heading', { name: 'Audit', level: 2 }).waitFor()
    await page.getByText('This token lacks the scope admin').waitFor()
  })

  it('shows the audit, filtered, page by page, and whether its newest entry is signed', async () => {
    const actor = await host.issue({ scopes: ['write'], agents: ['audited'] })
    for (let time = 0; time < 52; time++)
      await host.put('audited', { ...first, name: `N${time}` }, { Authorization: `Bearer ${actor.token}` })
    const page = await enter(adminToken, '#audit')
    await page.getByText('and this host has signed it').waitFor()
    await page.getByLabel('Agent (id)').fill('audited')
    await page.getByLabel('Who (').fill(actor.id)
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('50 entries, and there are older ones').waitFor()
    const rows = part(page, 'Entries of the audit').getByRole('row')
    expect(await rows.nth(1).textContent()).toMatch(
      new RegExp(`the token ${actor.id}changed the agent audited, revision 52`),
    )
    expect(await rows.nth(1).textContent()).toContain('class: cosmetic')
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('52 entries', { exact: true }).waitFor()
    expect(await focused(page)).toContain('revision 2')
    await page.getByLabel('What', { exact: true }).selectOption('agent-registered')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('1 entry', { exact: true }).waitFor()
    await page.getByLabel('Agent (id)').fill('Not an id')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('agent must be the id of an agent.').waitFor()
  })

  it('shows hostile texts of a card as texts, however long, on a small phone', async () => {
    const long = `${hostile}\u202e${'w'.repeat(3000)}`
    const card = (text: string) => ({
      ...minimalCard,
      name: text,
      description: text,
      version: text.slice(0, 200),
      provider: { organization: text, url: 'https://a.example' },
      skills: [skill('a', { name: text, description: text, tags: [text], examples: [text] })],
    })
    expect((await host.put('team-hostile', card(`1${long}`))).status).toBe(201)
    expect((await host.put('team-hostile', card(`2${long}`))).status).toBe(200)
    const page = await enter(writer.token, '#agents/team-hostile', { viewport: { width: 320, height: 640 } })
    await page.getByText('Found: ').waitFor()
    await page.getByRole('button', { name: 'What it changed in revision 2' }).click()
    await page.getByText('What changed in the manifest').click()
    await page.getByText('Card of revision 2').click()
    await page.getByRole('region', { name: 'The card of team-hostile' }).waitFor()
    await page.getByRole('link', { name: '← All agents' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    expect(await page.locator('#view img').count()).toBe(0)
    expect(await page.title()).toBe('team-hostile · Manage agents')
    await page.getByRole('link', { name: '← All agents' }).click()
    await page.getByText('team-hostile').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  })

  it('brings a removed agent back', async () => {
    await host.put('team-gone', first)
    await host.fetch('/agents/team-gone', { method: 'DELETE', headers: { Authorization: `Bearer ${adminToken}` } })
    const page = await enter(writer.token)
    await page.getByLabel('Open an agent by its id').fill('team-gone')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.getByText('No agent with this id is registered.').waitFor()
    await page.getByRole('button', { name: 'Go back to this revision 1' }).click()
    await page.getByRole('dialog').getByText('The agent was removed').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Go back to revision 1' }).click()
    await part(page, 'Report').waitFor()
    expect((await host.fetch('/agents/team-gone')).status).toBe(200)
  })

  it('does not bring an agent back over one that was registered meanwhile', async () => {
    await host.put('team-again', first)
    await host.fetch('/agents/team-again', { method: 'DELETE', headers: { Authorization: `Bearer ${adminToken}` } })
    const page = await enter(writer.token, '#agents/team-again')
    const goBack = page.getByRole('button', { name: 'Go back to this revision 1' })
    await goBack.waitFor()
    await host.put('team-again', second)
    await goBack.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Go back to revision 1' }).click()
    await page.getByText('Agent "team-again" exists already.').waitFor()
    expect(await nameOf('team-again')).toBe('Second')
  })

  it('is accessible in light and dark, and no wider than a small phone', async () => {
    await host.put('team-seen', first)
    await host.put('team-seen', second)
    const page = await enter(adminToken, '', { viewport: { width: 320, height: 640 } })
    const check = async (view: string) => {
      expect(await findViolations(page), view).toEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await findViolations(page, 'style'), `${view}, dark`).toEqual([])
      await page.emulateMedia({ colorScheme: 'light' })
      expect(await page.evaluate('document.documentElement.scrollWidth'), view).toBeLessThanOrEqual(320)
    }
    await page.locator('.managed a').first().waitFor()
    await check('agents')
    await page.goto(new URL('/manage#agents/team-seen', host.url).href)
    await page.getByRole('button', { name: 'What it changed in revision 2' }).click()
    await page.getByRole('heading', { name: 'From revision 1 to 2' }).waitFor()
    await page.locator('[aria-busy]').first().waitFor({ state: 'detached' })
    await check('agent')
    await page.getByRole('link', { name: 'Tokens' }).press('Enter')
    await part(page, 'Issued tokens').waitFor()
    await check('tokens')
    await page.getByRole('link', { name: 'Audit' }).press('Enter')
    await part(page, 'Entries of the audit').waitFor()
    await check('audit')
  })

  it('names the commands of a terminal without JavaScript, and sends no token', async () => {
    const page = await browser.open({ javaScriptEnabled: false })
    await page.goto(new URL('/manage', host.url).href)
    expect(await page.locator('noscript').textContent()).toMatch(/npx sync-card.*rollback ID 6/s)
    expect(await page.locator('#token-form').isVisible()).toBe(false)
    expect(await page.locator('#token').getAttribute('name')).toBeNull()
    expect(await page.locator('#token').getAttribute('type')).toBe('password')
    expect(await page.locator('#token').getAttribute('autocomplete')).toBe('off')
  })
})

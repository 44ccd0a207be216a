import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { describeInBrowser, expectAccessible, expectToFitPhone, findViolations, watch } from '../support/browser.ts'
import { agentCard, minimalCard } from '../support/cards/cards.ts'
import { token as adminToken, sharedHost, startSharedUpstream } from '../support/host.ts'
import { json, reply, type UpstreamServer } from '../support/upstream.ts'

const skill = (id: string, more: JsonObject = {}) => ({ id, name: id, description: 'D', tags: ['t'], ...more })
const first = { ...minimalCard, name: 'First', version: '1.0.0', skills: [skill('forecast')] }
const second = { ...first, name: 'Second', skills: [skill('history')] }
const hostile = '<img src=x onerror="document.title=`hacked`">'
const quiet = { streaming: false, pushNotifications: false, extendedAgentCard: false }
const asAdmin = { Authorization: `Bearer ${adminToken}` }
const host = sharedHost('signing')

describeInBrowser('the page of owners', browser => {
  let upstream: UpstreamServer
  /** May write `crew-*`. */
  let writer: { id: string; token: string }
  beforeAll(async () => {
    upstream = await startSharedUpstream()
    await host.put('crew-inner', { card: { ...minimalCard, name: 'Inner' }, visibility: 'internal', set: 'crew' })
    writer = await host.issue({ scopes: ['write'], agents: ['crew-*'], note: 'Crew' })
  })
  afterAll(() => upstream.close())

  /** Enters a token in the page. */
  const use = async (page: Page, token: string): Promise<void> => {
    await page.getByLabel('Token with the scope').fill(token)
    await page.getByLabel('Token with the scope').press('Enter')
  }
  /** Opens the page, enters a token, and waits until it is accepted. */
  const enter = async (token: string, hash = ''): Promise<Page> => {
    const page = await browser.open()
    await page.goto(new URL(`/manage${hash}`, host.url).href)
    await use(page, token)
    await part(page, 'Your token').waitFor()
    return page
  }
  const show = (page: Page, view: string) => page.evaluate(`location.hash = '#${view}'`)
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const status = (page: Page, text: string) => page.locator('#status').getByText(text).waitFor()
  const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
  const focused = (page: Page) => page.evaluate('document.activeElement.textContent')
  const viewText = (page: Page) => page.locator('#view').textContent()
  const agentNames = (page: Page) => page.locator('#view').getByRole('heading', { level: 3 }).allTextContents()
  const nameOf = async (id: string) => ((await (await host.fetch(`/agents/${id}`)).json()) as JsonObject).name
  const remove = (path: string) => host.fetch(path, { method: 'DELETE', headers: asAdmin })

  it('refuses what is no token for owners, says what one may do, stores it nowhere, and forgets it', async () => {
    const { token: readOnly } = await host.issue({ scopes: ['read'] })
    const page = await browser.open()
    await page.goto(new URL('/manage', host.url).href)
    const attributes = ['name', 'type', 'autocomplete'].map(name => page.locator('#token').getAttribute(name))
    expect(await Promise.all(attributes)).toEqual([null, 'password', 'off'])
    for (const [token, message] of [
      ['cc_wrong', 'The bearer token is malformed'],
      ['pass word', 'This is not a token'],
      [readOnly, 'This token cannot manage agents: it has the scope read only.'],
    ] as const) {
      await use(page, token)
      await status(page, message)
      const field = page.getByLabel('Token with the scope')
      expect([await field.inputValue(), await page.evaluate('document.activeElement.id')]).toEqual(['', 'token'])
      expect(await viewText(page)).toBe('')
    }

    await use(page, writer.token)
    const session = part(page, 'Your token')
    await session.getByText(`Token ${writer.id} (Crew): may register and change crew-*; `).waitFor()
    await session.getByText('Details').click()
    await session.getByText('It may register, change, remove and refresh the agents crew-*').waitFor()
    expect(await page.getByRole('link', { name: 'Tokens' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Inner' }).click()
    await page.getByRole('heading', { name: 'crew-inner', level: 2 }).waitFor()
    expect(page.url()).toBe(new URL('/manage#agents/crew-inner', host.url).href)
    await page.getByRole('link', { name: 'Skip to the content' }).press('Enter')
    expect(await focused(page)).toContain('crew-inner')
    const stored = await page.evaluate(
      'JSON.stringify([localStorage, sessionStorage, document.cookie, history.state, document.documentElement.outerHTML, [...document.querySelectorAll("input")].map(({ value }) => value)])',
    )
    expect(stored).not.toContain(writer.token)
    expect(await page.context().cookies()).toEqual([])
    expect(await page.evaluate('indexedDB.databases().then(({ length }) => length)')).toBe(0)
    await press(page, 'Forget the token')
    await status(page, 'This page has forgotten the token.')
    expect(await viewText(page)).toBe('')
    await show(page, 'agents/crew-inner')
    expect(await viewText(page)).toBe('')
    expect(await page.getByLabel('Token with the scope').inputValue()).toBe('')

    // A browser may show a page again that was left.
    await use(page, writer.token)
    await page.getByRole('heading', { name: 'crew-inner', level: 2 }).waitFor()
    await page.evaluate('dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))')
    expect(await viewText(page)).toBe('')
    expect(await page.getByLabel('Token with the scope').isVisible()).toBe(true)
  })

  it('lists the agents that a token covers, page by page, and those with certain words', async () => {
    const names = ['Inner', ...Array.from({ length: 25 }, (_, index) => `P${10 + index}`)]
    await Promise.all(
      names.map((name, index) =>
        host.put(`listed-${10 + index}`, {
          card: { ...minimalCard, name, description: hostile },
          ...(index === 0 && { visibility: 'internal' }),
        }),
      ),
    )
    const { token } = await host.issue({ scopes: ['write'], agents: ['listed-*'] })
    const page = await enter(token)
    await page.getByText('The first 24 agents').waitFor()
    expect([await focused(page), await page.title()]).toEqual(['Agents', 'Agents · Manage agents'])
    expect((await agentNames(page)).slice(0, 2)).toEqual(['Inner', 'P10'])
    expect(await page.getByRole('listitem').filter({ hasText: 'listed-10' }).textContent()).toContain('internal')
    await page.getByText(hostile).first().waitFor()
    expect(await page.locator('#view img').count()).toBe(0)
    await press(page, 'Show more')
    await page.getByText('26 agents', { exact: true }).waitFor()
    expect(await focused(page)).toContain('P33')
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
    await page.getByRole('searchbox').fill('p12')
    await page.getByText('1 agent with these words').waitFor()
    expect(await agentNames(page)).toEqual(['P12'])
    await expectAccessible(page)
  })

  it('shows card, report and source of an agent, or which scope is missing, until the token is revoked', async () => {
    await host.put('not-of-the-crew', { ...minimalCard, name: 'Other' })
    const { token, id } = await host.issue({ scopes: ['write'], agents: ['crew-*'] })
    const page = await enter(token, '#agents/crew-inner')
    const card = page.getByRole('region', { name: 'The card of crew-inner' })
    await card.getByText('"name": "Inner"').waitFor()
    const report = part(page, 'Report')
    await report.getByText(/^Publishable, with/).waitFor()
    await report
      .getByText(/\(skill-\w+|\(\w+-\w+/)
      .first()
      .waitFor()
    await report.getByText('Filled in (').click()
    await report.getByRole('listitem').filter({ hasText: '/defaultInputModes' }).last().waitFor()
    await report.getByText('Signatures (').click()
    await report.getByRole('listitem').filter({ hasText: 'signed by this host' }).waitFor()
    await part(page, 'Source').getByText('The card is in the manifest').waitFor()
    await part(page, 'Observed calls').getByText('No calls in the last 30 days.').waitFor()
    expect(await page.getByRole('button', { name: 'Fetch the card now' }).count()).toBe(0)

    await show(page, 'agents/not-of-the-crew')
    await page.getByText('The scope write of this token does not cover agent "not-of-the-crew"').first().waitFor()
    expect(await page.getByRole('heading', { level: 2 }).textContent()).toBe('not-of-the-crew')
    for (const [view, heading] of [
      ['tokens', 'Tokens'],
      ['audit', 'Audit'],
    ] as const) {
      await show(page, view)
      await page.getByRole('heading', { name: heading, level: 2 }).waitFor()
      await page.getByText('This token lacks the scope admin').waitFor()
    }

    await page.route('**/revisions?limit=20', route => route.abort())
    await show(page, 'agents/crew-inner')
    const revisions = part(page, 'Revisions')
    await revisions.getByText('This host cannot be reached right now.').waitFor()
    await report.getByText(/^Publishable, with/).waitFor()
    await page.unrouteAll()
    await revisions.getByRole('button', { name: 'Try again' }).click()
    await revisions.getByRole('heading', { name: 'Revision 1' }).waitFor()

    await remove(`/tokens/${id}`)
    await show(page, 'agents')
    await status(page, 'Enter another one.')
    expect(await viewText(page)).toBe('')
  })

  it('compares revisions, and goes back to one after a confirmation', async () => {
    await host.put('crew-moving', first)
    await host.put('crew-moving', second)
    const page = await enter(writer.token, '#agents/crew-moving')
    const revisions = part(page, 'Revisions')
    await press(page, 'What it changed in revision 2')
    await revisions.getByText('skill forecast').first().waitFor()
    expect(await focused(page)).toBe('From revision 1 to 2: breaking')
    await revisions.getByText('What changed in the manifest').click()
    await revisions.getByText('/name').first().waitFor()

    const goBack = (number: number) =>
      revisions.getByRole('button', { name: `Go back to this revision ${number}`, exact: true })
    await goBack(1).click()
    const dialog = page.getByRole('dialog', { name: 'Go back to revision 1 of crew-moving?' })
    expect(await dialog.textContent()).toMatch(/breaking.*skill history/s)
    expect(await findViolations(page, 'dialog')).toEqual([])
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect(await revisions.getByRole('listitem').filter({ hasText: 'Revision 3' }).count()).toBe(0)

    await goBack(1).press('Enter')
    await dialog.getByRole('button', { name: 'Go back to revision 1' }).press('Enter')
    await status(page, 'crew-moving is registered, as revision 3.')
    await revisions.getByRole('heading', { name: 'Revision 3' }).waitFor()
    expect([await focused(page), await nameOf('crew-moving')]).toEqual(['crew-moving', 'First'])
  })

  /** Makes the upstream serve a card, and returns its name. */
  const serve = (name: string, capabilities: JsonObject = {}): void =>
    upstream.respond(
      reply(
        200,
        json,
        JSON.stringify(agentCard(upstream.origin, { name, capabilities: { ...quiet, ...capabilities } })),
      ),
    )

  it('accepts a pending card after a confirmation that says what it widens, and no other than the one shown', async () => {
    serve('Before')
    await host.put('crew-pinned', { upstream: { card: `${upstream.origin}/card.json`, pin: true } })
    serve('Seen', { streaming: true })
    const page = await enter(writer.token, '#agents/crew-pinned')
    const dialog = page.getByRole('dialog', { name: 'Accept the new card of crew-pinned?' })
    await press(page, 'Fetch the card now')
    await status(page, 'A new card was fetched, and waits for you')
    await part(page, 'Source').getByText('Why the new card waits').waitFor()
    serve('After', { pushNotifications: true })
    await host.fetch('/agents/crew-pinned/refresh', { method: 'POST', headers: asAdmin })
    await press(page, 'Accept this card')
    await dialog.getByRole('button', { name: 'Accept this card' }).click()
    await part(page, 'Source').getByText('has no pending card with that etag').waitFor()
    expect(await nameOf('crew-pinned')).toBe('Before')

    await show(page, 'agents')
    await show(page, 'agents/crew-pinned')
    await press(page, 'Accept this card')
    expect(await dialog.textContent()).toContain('/capabilities/pushNotifications')
    await dialog.getByRole('button', { name: 'Accept this card' }).click()
    await status(page, 'The card is accepted')
    await part(page, 'Source').getByText('The card is fresh').waitFor()
    await part(page, 'Report').getByText('This is about the card that was fetched').waitFor()
    await part(page, 'Revisions')
      .getByText(/^What changed in the fetched card/)
      .first()
      .click()
    const changes = part(page, 'Revisions').getByRole('listitem')
    await changes.filter({ hasText: '/name changed "Before" → "After"' }).last().waitFor()
    expect(await nameOf('crew-pinned')).toBe('After')
  })

  it('issues a token, shows it once, and revokes it after a confirmation, which warns of the one in use', async () => {
    const own = await host.issue({ scopes: ['admin'] })
    const page = await enter(own.token)
    await page.route('**/assets/*.js', route => route.abort())
    await show(page, 'tokens')
    await page.getByText('This host cannot be reached right now.').waitFor()
    await page.unrouteAll()
    await press(page, 'Try again')
    await page.getByText('Issued tokens').first().waitFor()
    const form = page.getByRole('form', { name: 'Issue a token' })
    await form.getByRole('button', { name: 'Issue the token' }).click()
    await form.getByText('No token was issued.').waitFor()
    await form.getByRole('checkbox', { name: 'write' }).check()
    await form.getByRole('textbox', { name: 'Agents' }).fill('crew-a, crew-b*')
    await form.getByRole('textbox', { name: 'Tiers' }).fill('partner')
    await form.getByRole('textbox', { name: 'Note' }).fill(hostile)
    await form.getByRole('button', { name: 'Issue the token' }).press('Enter')
    const shown = part(page, 'New token')
    const text = (await shown.locator('.secret').textContent()) ?? ''
    expect(text).toMatch(/^cc_/)
    expect(await focused(page)).toBe(`Token ${text.split('_')[1]}`)
    await expectAccessible(page)
    const headers = { Authorization: `Bearer ${text}` }
    const grant = (await (await host.fetch('/tokens/self', { headers })).json()) as { id: string; expires: string }
    expect(grant).toMatchObject({ scopes: ['write'], agents: ['crew-a', 'crew-b*'], tiers: ['partner'], note: hostile })
    expect(Date.parse(grant.expires) - Date.now()).toBeGreaterThan(29 * 86_400_000)

    await shown.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Its text is no longer shown.').waitFor()
    expect(await page.content()).not.toContain(text)

    await page.getByRole('button', { name: `Revoke the token ${grant.id}` }).click()
    const dialog = page.getByRole('dialog', { name: `Revoke the token ${grant.id}?` })
    expect(await dialog.textContent()).toContain(
      'It may register, change, remove and refresh the agents crew-a and crew-b*',
    )
    await dialog.getByRole('button', { name: 'Revoke the token' }).click()
    await status(page, `The token ${grant.id} is revoked.`)
    expect((await host.fetch('/tokens/self', { headers })).status).toBe(401)

    await press(page, `Revoke the token ${own.id}`)
    await page.getByRole('dialog').getByText('This is the token that you use now.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke the token' }).click()
    await status(page, 'Enter another one.')
    expect(await viewText(page)).toBe('')
  })

  it('shows the audit, filtered, and whether its newest entry is signed', async () => {
    const actor = await host.issue({ scopes: ['write'], agents: ['audited'] })
    for (let time = 0; time < 3; time++)
      await host.put('audited', { ...first, name: `N${time}` }, { Authorization: `Bearer ${actor.token}` })
    const page = await enter(adminToken, '#audit')
    await page.getByText('and this host has signed it').waitFor()
    await page.getByLabel('Agent (id)').fill('audited')
    await page.getByLabel('Who (').fill(actor.id)
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('3 entries', { exact: true }).waitFor()
    const newest = page.getByRole('list', { name: 'Entries of the audit' }).getByRole('listitem').first()
    expect(await newest.textContent()).toMatch(
      new RegExp(`\\d:\\d\\d:\\d\\d.*the token ${actor.id} changed the agent audited, revision 3class: cosmetic`),
    )
    await page.getByLabel('What', { exact: true }).selectOption('agent-registered')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('1 entry', { exact: true }).waitFor()
    await expectAccessible(page)
    await page.setViewportSize({ width: 390, height: 800 })
    await show(page, 'agents')
    await show(page, 'audit')
    await page.getByText('and this host has signed it').waitFor()
    expect(await page.getByLabel('Agent (id)').isVisible()).toBe(false)
    await page.locator('summary').getByText('Filter').press('Enter')
    await page.getByLabel('Agent (id)').waitFor()
    await page.setViewportSize({ width: 1280, height: 720 })
  })

  it('shows hostile texts of a card as texts, however long, in a view that is accessible and fits a small phone', async () => {
    const card = (text: string) => ({
      ...{ ...minimalCard, name: text, description: text, version: text.slice(0, 200) },
      provider: { organization: text, url: 'https://a.example' },
      skills: [skill('a', { name: text, description: text, tags: [text], examples: [text] })],
    })
    const long = `${hostile}\u202e${'w'.repeat(3000)}`
    await host.put('crew-hostile', card(`1${long}`))
    expect((await host.put('crew-hostile', card(`2${long}`))).status).toBe(200)
    const page = await enter(writer.token, '#agents/crew-hostile')
    await part(page, 'Report')
      .getByText(/^\w.* with \d/)
      .first()
      .waitFor()
    await press(page, 'What it changed in revision 2')
    await page.getByText('What changed in the manifest').click()
    await page.getByText('Card of revision 2').click()
    await page.getByRole('region', { name: 'The card of crew-hostile' }).waitFor()
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
    await expectAccessible(page)
    expect(await page.locator('#view img').count()).toBe(0)
    expect(await page.title()).toBe('crew-hostile · Manage agents')
    await page.getByRole('link', { name: '← All agents' }).click()
    await page.getByRole('listitem').filter({ hasText: 'crew-hostile' }).waitFor()
    await expectToFitPhone(page)
  })

  const editorOf = (page: Page) => page.getByRole('textbox', { name: 'Manifest' })

  it('creates, edits, removes and restores an agent by keyboard, with completion and a review before each step', async () => {
    const page = await enter(writer.token, '#new')
    const editor = editorOf(page)
    const options = page.getByRole('option')
    const review = () => page.getByRole('button', { name: 'Review changes' }).press('Enter')
    const agree = async (title: string, action: string): Promise<string> => {
      const dialog = page.getByRole('dialog', { name: title })
      const text = (await dialog.textContent()) ?? ''
      const isDanger = await dialog.locator('.danger').count()
      expect([title, isDanger]).toEqual([title, title === 'Register the new agent crew-made?' ? 0 : 1])
      await dialog.getByRole('button', { name: action }).press('Enter')
      return text
    }
    await page.getByRole('textbox', { name: 'Id' }).pressSequentially('crew-made')
    await editor.press('Control+End')
    await page.keyboard.type('vis')
    expect(await options.allTextContents()).toEqual([expect.stringMatching(/^visibility public: the agent is listed/)])
    await page.keyboard.press('Enter')
    expect(await options.count()).toBe(2)
    await page.keyboard.press('ArrowDown')
    const active = await editor.getAttribute('aria-activedescendant')
    expect(await page.locator(`#${active}`).textContent()).toMatch(/^internal/)
    await page.keyboard.press('Enter')
    expect(await editor.inputValue()).toMatch(/\nvisibility: internal$/)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Control+Space')
    await options.first().waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    expect(await options.count()).toBe(0)
    await page.keyboard.type('zzz: 1')
    await page.getByText('Not publishable: 1 error').waitFor()
    await page
      .getByRole('button', { name: /^Go to line 1\d$/ })
      .last()
      .press('Enter')
    await page.keyboard.press('Delete')
    await page.getByText(/^Ready to publish/).waitFor()
    await review()
    await agree('Register the new agent crew-made?', 'Register')
    const problems = watch(page, host.url.origin)
    await status(page, 'crew-made is registered, as revision 1.')
    await part(page, 'Report')
      .locator('.message.good')
      .getByText(/^Ready to publish, with/)
      .waitFor()
    expect(await focused(page)).toBe('crew-made')

    await page.getByRole('link', { name: 'Edit the manifest' }).press('Enter')
    await editor.fill((await editor.inputValue()).replace('JSONRPC', 'GRPC').replace('visibility: internal', ''))
    await review()
    expect(await agree('Register these changes of crew-made?', 'Register')).toMatch(
      /the change is breaking: a client.*should be 2\.0\.0.*\/visibility removed "internal"/s,
    )
    await status(page, 'revision 2. For clients, the change is breaking.')
    await page.getByRole('button', { name: 'Remove' }).press('Enter')
    expect(await agree('Remove crew-made?', 'Remove the agent')).toContain('below the list of agents')
    await status(page, 'The agent is removed.')

    await show(page, 'agents')
    await page.getByRole('searchbox').fill('crew-made')
    await page.getByText('No agent has these words. One that was removed can be opened by its id below.').waitFor()
    await page.getByLabel('Open an agent by its id').fill('crew-made')
    await page.keyboard.press('Enter')
    await page.getByText('No agent with this id is registered.').waitFor()
    await page.getByRole('heading', { name: 'Revision 3' }).waitFor()
    expect(problems).toEqual([])
    await page.getByRole('button', { name: 'Go back to this revision 2' }).press('Enter')
    expect(await agree('Go back to revision 2', 'Go back')).toContain('The agent was removed')
    await status(page, 'crew-made is registered, as revision 4.')
    expect(await nameOf('crew-made')).toBe('My Agent')
  })

  it('keeps a text when another change is in the way, the network fails, its view is left, or its token ends', async () => {
    await host.put('crew-edited', first)
    const { id, token } = await host.issue({ scopes: ['write'], agents: ['crew-*'] })
    const page = await enter(token, '#edit/crew-edited')
    const editor = editorOf(page)
    const isLeavable = () => page.evaluate('dispatchEvent(new Event("beforeunload", { cancelable: true }))')
    expect([await editor.inputValue().then(text => text.includes('First')), await isLeavable()]).toEqual([true, true])
    const mine = (await editor.inputValue()).replace('First', 'Mine')
    await page.route(/\/lint\b/, route => route.abort())
    await editor.fill(mine)
    await press(page, 'Review changes')
    await page.getByText('This host cannot be reached right now.').waitFor()
    await page.unrouteAll()
    await show(page, 'agents')
    await page.getByRole('searchbox').waitFor()
    expect(await isLeavable()).toBe(false)
    await show(page, 'edit/crew-edited')
    expect(await editor.inputValue()).toBe(mine)

    await remove(`/tokens/${id}`)
    await press(page, 'Review changes')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Register' }).click()
    await status(page, 'Enter another one.')
    expect(await page.content()).not.toContain('Mine')
    const other = await host.issue({ scopes: ['write'], agents: ['other-*'] })
    await use(page, other.token)
    await show(page, 'edit/crew-edited')
    await page.getByText('does not cover agent "crew-edited"').waitFor()
    expect(await editor.count()).toBe(0)
    await remove(`/tokens/${other.id}`)
    await show(page, 'agents')
    await status(page, 'Enter another one.')
    await use(page, writer.token)
    await show(page, 'edit/crew-edited')
    expect(await editor.inputValue()).toBe(mine)

    await host.put('crew-edited', second)
    await press(page, 'Review changes')
    await dialog.getByText('/name changed "First" → "Mine"').waitFor()
    await dialog.getByRole('button', { name: 'Register' }).click()
    await page.getByText('The agent was changed concurrently, so nothing was registered.').waitFor()
    expect([await editor.inputValue(), await nameOf('crew-edited')]).toEqual([mine, 'Second'])
    await press(page, 'Review changes')
    await dialog.getByText('/name changed "Second" → "Mine"').waitFor()
    await dialog.getByRole('button', { name: 'Register' }).click()
    await status(page, 'crew-edited is registered, as revision 3.')
    expect([await nameOf('crew-edited'), await isLeavable()]).toEqual(['Mine', true])
  })
})

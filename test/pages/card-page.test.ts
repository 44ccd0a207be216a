import { globSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { AgentCard } from '../../src/card/model/agent-card.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import type { CardFacts } from '../../src/pages/card/card-facts.ts'
import { CardDocument, findView, renderCardPage, views } from '../../src/pages/card/index.ts'
import { pageResponse } from '../../src/pages/layout/index.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { compileCard } from '../support/cards/compile.ts'
import { completeCards } from '../support/cards/complete.ts'
import { growth } from '../support/cpu-time.ts'
import { mapStrings } from '../support/hostile.ts'
import { snippetIn, unescapeHtml } from '../support/html.ts'
import { receiptOf } from '../support/registrations.ts'

const origin = 'https://host.example'
const request = new Request(`${origin}/agents/weather`)

const factsOf = (documents: Record<string, JsonObject>, more: Partial<CardFacts> = {}): CardFacts => ({
  id: 'weather',
  card: documents['1.0'] as AgentCard,
  signing: { signers: [] },
  origin,
  hostOrigin: origin,
  cardUrl: `${origin}/agents/weather/.well-known/agent-card.json`,
  route: 'direct',
  visibility: 'public',
  modified: new Date('2026-11-22T14:03:00Z'),
  ...{ tools: [], moreSkills: 0, mcpServer: undefined, source: undefined, check: undefined },
  ...more,
})

/** Renders the page of a document that is registered. `unchecked` are members that the registration might have refused. */
const render = async (
  document: Json,
  more: Partial<CardFacts> = {},
  view: string | null = null,
  unchecked: JsonObject = {},
): Promise<string> => {
  const { documents } = compileCard(document)
  Object.assign(documents['1.0'], unchecked)
  const page = renderCardPage(factsOf(documents, more), documents[findView(view).representation], view)
  return (await pageResponse(page, request)).text()
}

/** Returns the text of HTML, as a person reads it: most elements begin a line. */
const textOf = (html: string): string =>
  unescapeHtml(html.replace(/<\/?(?:bdi|code|a|span|b|i|time)\b[^>]*>/g, '').replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim()

/** Returns the part of a page from the heading with an id to the end of its section, or what a line opens. */
const sectionOf = (html: string, id: string): string =>
  textOf(
    new RegExp(
      `<h2 id="${id}">.*?</section>|<details class="line"><summary>(?:(?!<details).)*<div id="${id}">.*?</details>`,
      's',
    ).exec(html)?.[0] ?? '',
  )

const jsonRpc = (url: string, protocolVersion = '1.0'): JsonObject => ({
  url,
  protocolBinding: 'JSONRPC',
  protocolVersion,
})
const curlOfCard = "curl -sS 'https://host.example/agents/weather/.well-known/agent-card.json'"

const card = (more: JsonObject): JsonObject => ({
  name: 'Weather',
  description: 'Tells the weather.\nOf any place.',
  version: '1.2.3',
  supportedInterfaces: [jsonRpc('https://agent.test/rpc')],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'now', name: 'Now', description: 'The weather now', tags: ['rain & sun'] }],
  ...more,
})

/** Returns what the sections of a page show, without the JSON. */
const readable = (html: string): string => textOf(html.replace(/^.*?<main|<section id="document".*?<\/section>/gs, ''))

describe('the page of a card', () => {
  it('shows every text of the card, in each dialect', async () => {
    for (const [dialect, document] of Object.entries(completeCards)) {
      const html = readable(await render(document))
      const { signatures: _signatures, ...shown } = compileCard(document).documents['1.0']
      const missing: string[] = []
      mapStrings(shown, value => {
        if (!html.includes(value.replace(/\s+/g, ' ').trim())) missing.push(value)
        return value
      })
      expect(missing, dialect).toEqual([])
    }
  })

  it('shows what the newest check has shown, and how long ago, if there was one', async () => {
    const now = Date.parse('2026-11-25T09:00:00Z')
    for (const [more, expected] of [
      [{}, 'The receipt has a signature of this host.'],
      [{ current: false }, 'The card has changed since.'],
      [{ signature: undefined }, 'The receipt is not signed.'],
    ] as const) {
      const html = await render(card({}), { check: { ...receiptOf('weather'), current: true, now, ...more } })
      const section = sectionOf(html, 'tests')
      expect(section).toContain(expected)
      expect(section).toContain('This host tested the agent 3 days ago: 2 passed, 1 failed, 1 skipped.')
      expect(section).toContain('Streams if its card declares it: 1 of 2 failed. The agent does not answer.')
      expect(html).toContain('<li class="yes">Refuses a version that does not exist</li>')
      expect(html).toContain('<a href="/agents/weather/receipt">Open the receipt</a>')
    }
    expect(await render(card({}))).not.toContain('id="tests"')
  })

  it('shows at most four versions of A2A as badges', async () => {
    const supportedInterfaces = Array.from({ length: 9 }, (_, index) => jsonRpc('https://agent.test/rpc', `1.${index}`))
    expect((await render(card({ supportedInterfaces }))).match(/<li class="badge">A2A /g)).toHaveLength(4)
  })

  it('has texts as they are, links to the catalog and the view of owners, and the time of the last change', async () => {
    const html = await render(card({ name: 'מזג אוויר' }))
    for (const element of [
      '<p class="lead" dir="auto">Tells the weather.</p>',
      '<p class="text" dir="auto">Tells the weather.\nOf any place.</p>',
      '<h1 dir="auto">מזג אוויר</h1>',
      '<a href="/agents?tag=rain%20%26%20sun" dir="auto">rain &amp; sun</a>',
      '<a href="/manage#agents/weather">',
      '<time datetime="2026-11-22T14:03:00.000Z">Nov 22, 2026, 2:03 PM UTC</time>',
    ])
      expect(html).toContain(element)
  })

  it('has settings for MCP clients, if they can use the agent', async () => {
    const mcpServer = { url: `${origin}/agents/weather/mcp`, headers: [] }
    const html = await render(minimalCard, { mcpServer })
    expect(snippetIn(html, 'claude-code')).toBe(`claude mcp add --transport http weather ${mcpServer.url}`)
    expect(JSON.parse(snippetIn(html, 'vs-code'))).toEqual({
      servers: { weather: { type: 'http', url: mcpServer.url } },
    })
    expect(sectionOf(html, 'use-title')).not.toContain('secret')
    const header = { name: 'X-API-Key', placeholder: '…', isRequired: true, isSecret: true }
    const secured = await render(minimalCard, { mcpServer: { ...mcpServer, headers: [header] } })
    expect(JSON.parse(snippetIn(secured, 'mcp-json'))).toEqual({
      mcpServers: { weather: { type: 'http', url: mcpServer.url, headers: { 'X-API-Key': '…' } } },
    })
    expect(sectionOf(secured, 'use-title')).toContain('Replace … by your secret.')
    expect(sectionOf(await render(minimalCard), 'use-title')).not.toContain('MCP client')
  })

  it('lists each address once, with its protocols and its tenant, and says what the route means', async () => {
    const url = 'https://agent.test/rpc'
    const grpc = { url: 'agent.test:443', protocolBinding: 'GRPC', protocolVersion: '1.0', tenant: 'north' }
    const document = card({ supportedInterfaces: [jsonRpc(url), jsonRpc(url, '0.3'), grpc] })
    const html = await render(document)
    expect(sectionOf(html, 'endpoints')).toBe(
      'Endpoints Calls go to the agent itself. 2 endpoints JSONRPC A2A 1.0 and 0.3 https://agent.test/rpc Copy ' +
        'GRPC A2A 1.0 Tenant north agent.test:443 Copy',
    )
    expect(html).not.toContain('="agent.test')
    for (const [route, words] of [
      ['gateway', 'Calls go through this host'],
      ['closed', 'this host refuses its calls'],
    ] as const)
      expect(sectionOf(await render(document, { route }), 'endpoints')).toContain(words)
  })

  it('describes the capabilities, declared or not', async () => {
    const extension = { uri: 'https://e.example/1', required: true, params: { unit: 'C' } }
    const html = await render(card({ capabilities: { streaming: true, extensions: [extension] } }))
    expect(sectionOf(html, 'capabilities')).toBe(
      'Capabilities Streams its answers as they arise. Sends no push notifications. Has no extended card. ' +
        'Accepts text/plain Produces text/plain 1 extension https://e.example/1 required {"unit":"C"}',
    )
  })

  it('says that a copy of a remote card is stale', async () => {
    const source = { checked: Date.UTC(2026, 10, 1), ttl: 60, staleIfError: 1e9, failing: 502 } as const
    expect(textOf(await render(card({}), { source }))).toContain('This is the copy of Sun, 01 Nov 2026 00:00:00 GMT.')
    const { failing: _, ...healthy } = source
    expect(textOf(await render(card({}), { source: healthy }))).not.toContain('This is the copy of')
  })

  it('loads icons of this host only, and has a monogram for others', async () => {
    for (const [iconUrl, source] of [
      ['https://host.example/i.png?size=2', '/i.png?size=2'],
      ['https://host.example//elsewhere.example/i.png', '/elsewhere.example/i.png'],
      ['https://elsewhere.example/i.png', undefined],
      ['javascript:alert(1)', undefined],
    ] as const) {
      const html = await render(card({}), {}, null, { iconUrl })
      expect(/<img src="([^"]*)"/.exec(html)?.[1], iconUrl).toBe(source)
      expect(html.includes('aria-hidden="true" font-family')).toBe(source === undefined)
    }
  })

  it('lets the console call the endpoints of the card over https, and in development over http, and nothing else', async () => {
    const urls = ['https://a.test/1', 'https://a.test/2', 'http://b.test/', "https://x';y.test/"]
    const { documents } = compileCard(card({ supportedInterfaces: urls.map(url => jsonRpc(url)) }))
    const connectTo = (origin: string) => renderCardPage(factsOf(documents, { origin }), {}).connectTo
    expect(connectTo('https://host.example')).toEqual(['https://a.test'])
    expect(connectTo('http://localhost:8787')).toEqual(['https://a.test', 'http://b.test'])
  })

  it('has links to web pages only', async () => {
    for (const [documentationUrl, isLink] of [
      ['https://a.example/docs', true],
      ['http://a.example/docs', true],
      ['javascript:alert(1)', false],
      ['//a.example/docs', false],
      ['/docs', false],
    ] as const) {
      const html = await render(card({}), {}, null, { documentationUrl })
      const link = `<a href="${documentationUrl}" rel="noopener nofollow ugc" dir="auto">${documentationUrl}</a>`
      expect(html.includes(link), documentationUrl).toBe(isLink)
      expect(sectionOf(html, 'about')).toContain(`Documentation ${documentationUrl}`)
      if (!isLink) expect(html).not.toMatch(/href="(?:javascript|data|\/docs)/i)
    }
  })
})

describe('how to authenticate', () => {
  const securitySchemes: JsonObject = {
    bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } },
    basic: { httpAuthSecurityScheme: { scheme: 'basic' } },
    digest: { httpAuthSecurityScheme: { scheme: 'Digest' } },
    header: { apiKeySecurityScheme: { name: 'X-Key', location: 'header' } },
    query: { apiKeySecurityScheme: { name: 'key', location: 'query' } },
    cookie: { apiKeySecurityScheme: { name: 'sid', location: 'cookie' } },
    oauth: {
      oauth2SecurityScheme: {
        flows: {
          authorizationCode: {
            authorizationUrl: 'https://id.example/authorize',
            tokenUrl: 'https://id.example/token',
            scopes: { 'rain:read': 'Read the rain' },
            pkceRequired: true,
          },
        },
      },
    },
    oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' } },
    tls: { mtlsSecurityScheme: { description: 'Ask the operator' } },
  }
  const requirements = (...alternatives: Record<string, string[]>[]) =>
    alternatives.map(schemes => ({
      schemes: Object.fromEntries(Object.entries(schemes).map(([name, list]) => [name, { list }])),
    }))

  it('is said in a sentence', async () => {
    const rows: [Record<string, string[]>[], string][] = [
      [[], 'Anyone may call this agent: its card asks for no credentials.'],
      [[{}], 'Anyone may call this agent: its card asks for no credentials.'],
      [[{ bearer: [] }], 'Callers need a bearer token (JWT).'],
      [[{ basic: [] }], 'Callers need a user name and a password (HTTP Basic).'],
      [[{ digest: [] }], 'Callers need HTTP credentials of the scheme Digest.'],
      [[{ query: [] }], 'Callers need an API key in the query parameter key.'],
      [[{ cookie: [] }], 'Callers need an API key in the cookie sid.'],
      [[{ oauth: ['rain:read'] }], 'Callers need an OAuth 2.0 access token with the scope rain:read.'],
      [[{ oidc: ['a', 'b'] }], 'Callers need a token from an OpenID Connect provider with the scopes a and b.'],
      [
        [{ header: [], tls: [] }, { bearer: [] }, {}],
        'Callers need either an API key in the header X-Key and a TLS client certificate or a bearer token (JWT). ' +
          'Calls without credentials are answered too.',
      ],
    ]
    for (const [alternatives, sentence] of rows) {
      const document = card({ securitySchemes, securityRequirements: requirements(...alternatives) })
      expect(sectionOf(await render(document), 'authentication')).toContain(`Authentication ${sentence}`)
    }
  })

  it('explains each scheme', async () => {
    const text = sectionOf(await render(card({ securitySchemes })), 'authentication')
    expect(text).toContain(
      'A person signs in with a browser (authorization code), with PKCE Sign in at https://id.example/authorize ' +
        'Tokens from https://id.example/token Scope rain:read: Read the rain',
    )
    expect(text).toContain('The configuration of the provider: https://id.example/.well-known/openid-configuration')
    expect(text).toContain('Ask the operator')
  })

  it('names what a skill needs by itself', async () => {
    const [skill] = card({}).skills as JsonObject[]
    const skills = [{ ...skill, securityRequirements: requirements({ header: [] }) }]
    expect(sectionOf(await render(card({ securitySchemes, skills })), 'skills')).toContain(
      'Calls of this skill need an API key in the header X-Key.',
    )
  })
})

describe('the code that calls an agent', () => {
  it('is a program in Python, with what the agent needs', async () => {
    const document = card({
      capabilities: { extensions: [{ uri: 'https://e.example/é', required: true }, { uri: 'https://e.example/2' }] },
      securitySchemes: {
        key: { apiKeySecurityScheme: { name: 'X-Key', location: 'header' } },
        basic: { httpAuthSecurityScheme: { scheme: 'basic' } },
        query: { apiKeySecurityScheme: { name: 'k', location: 'query' } },
        tls: { mtlsSecurityScheme: {} },
      },
      securityRequirements: [{ schemes: { key: {}, basic: {}, query: {}, tls: {} } }],
      skills: [{ id: 's', name: 'S', description: 'S', tags: ['s'], examples: ['"ü"\n\u{e0041}'] }],
    })
    const html = await render(document)
    expect(snippetIn(html, 'python')).toBe(`# pip install a2a-sdk
import asyncio, os, uuid
import httpx
from a2a.client import A2ACardResolver, ClientCallContext, ClientConfig, create_client
from a2a.types import Message, Part, Role, SendMessageRequest

agent = "https://host.example/agents/weather"

async def main():
    async with httpx.AsyncClient(timeout=60, cert=(os.environ["AGENT_CERTIFICATE"], os.environ["AGENT_CERTIFICATE_KEY"])) as http:
        card = await A2ACardResolver(http, agent).get_agent_card()
        http.headers["X-Key"] = os.environ["AGENT_API_KEY"]
        http.auth = (os.environ["AGENT_USER"], os.environ["AGENT_PASSWORD"])
        http.params = http.params.set("k", os.environ["AGENT_API_KEY_2"])
        # The client certificate is in the options of the HTTP client above.
        client = await create_client(card, ClientConfig(httpx_client=http))
        context = ClientCallContext(service_parameters={"A2A-Extensions": "https://e.example/%C3%A9"})
        parts = [Part(text="\\"ü\\"\\n\\U000e0041")]
        message = Message(
            message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=parts
        )
        request = SendMessageRequest(message=message)
        async for event in client.send_message(request, context=context):
            print(event)

asyncio.run(main())`)
    expect(snippetIn(html, 'curl')).toContain('--cert "$AGENT_CERTIFICATE" \\\n  --key "$AGENT_CERTIFICATE_KEY"')
    expect(sectionOf(html, 'use-title')).toContain(
      'AGENT_API_KEY, AGENT_USER, AGENT_PASSWORD, AGENT_API_KEY_2, AGENT_CERTIFICATE and AGENT_CERTIFICATE_KEY.',
    )
  })

  it('sends what an agent reads', async () => {
    const text = 'text/markdown'
    const url = 'https://example.com/file'
    for (const [defaultInputModes, part, python] of [
      [['text/plain'], { text: 'Hello' }, `Part(text="Hello")`],
      [[text], { text: 'Hello', mediaType: text }, `Part(text="Hello", media_type="${text}")`],
      [['application/json'], { data: { request: 'Hello' } }, `Part(data=ParseDict({"request": "Hello"}, Value()))`],
      [['image/png', 'image/jpeg'], { url, mediaType: 'image/png' }, `Part(url="${url}", media_type="image/png")`],
    ] as const) {
      const html = await render(card({ defaultInputModes: [...defaultInputModes] }))
      expect(snippetIn(html, 'curl')).toContain(`"parts":[${JSON.stringify(part)}]`)
      expect(snippetIn(html, 'python')).toContain(python)
    }
  })

  it('calls a tool of an MCP server with a value for each required argument', async () => {
    const inputSchema = {
      type: 'object',
      properties: {
        unit: { enum: ['C', 'F'] },
        days: { type: 'integer', minimum: 3 },
        deep: { type: 'object', properties: { flag: { type: 'boolean' } }, required: ['flag'] },
        none: { type: 'null' },
        other: { type: 'string' },
      },
      required: ['unit', 'days', 'deep', 'none', 'absent'],
    }
    const html = await render(card({}), { tools: [{ skillId: 'now', name: 'now', inputSchema }] })
    const values = { unit: 'C', days: 3, deep: { flag: true }, none: null }
    expect(snippetIn(html, 'curl')).toContain(JSON.stringify({ data: { skillId: 'now', arguments: values } }))
    expect(snippetIn(html, 'python')).toContain(
      'ParseDict({"skillId": "now", "arguments": {"unit": "C", "days": 3, "deep": {"flag": True}, "none": None}}, Value())',
    )
  })

  it('reads each member of a tool’s schema once, however often it is required', async () => {
    let reads = 0
    const nest = (depth: number): JsonObject => ({
      required: Array.from({ length: 9 }, () => 'inner'),
      properties: {
        get inner() {
          reads += 1
          return depth === 0 ? {} : nest(depth - 1)
        },
      },
    })
    await render(card({}), { tools: [{ skillId: 'now', name: 'now', inputSchema: nest(2) }] })
    expect(reads).toBe(3)
  })

  it('keeps curl from taking brackets in an address for a range of addresses', async () => {
    const at = (url: string) => render(card({ url: undefined, supportedInterfaces: [jsonRpc(url)] }))
    const bracketed = snippetIn(await at('https://agent.test/[1-9]'), 'curl')
    expect(bracketed).toMatch(/^curl -gsS 'https:\/\/agent\.test\/\[1-9\]' /)
    expect(snippetIn(await at('https://agent.test/1'), 'curl')).toMatch(/^curl -sS /)
  })

  it('fetches only the card of an agent that this page has no code for', async () => {
    const supportedInterfaces = [{ url: 'agent.test:443', protocolBinding: 'GRPC', protocolVersion: '1.0' }]
    const html = await render(card({ supportedInterfaces }))
    expect(snippetIn(html, 'curl')).toBe(curlOfCard)
    expect(snippetIn(html, 'python')).toBe('')
    expect(html).toContain('This agent has no endpoint that a browser can call')
    expect(html).not.toMatch(/console\.js|<textarea/)
  })
})

describe('the switch between representations', () => {
  it('shows the card in each, and links the document', async () => {
    const { documents } = compileCard(card({}))
    for (const { name, representation } of views) {
      const html = await render(card({}), {}, name)
      const shown = /<code id="json".*?<\/code>/s.exec(html)?.[0] ?? ''
      expect(JSON.parse(textOf(shown)), name).toEqual(documents[representation])
      expect(html).toContain(`<a href="?view=${name}#document" aria-current="true">`)
      const query = name === 'hybrid' ? '' : `?dialect=${name}`
      expect(html).toContain(`<a href="/agents/weather/.well-known/agent-card.json${query}">Open the raw document</a>`)
    }
  })

  it('shows 1.0 for a name that does not exist', () => {
    expect([findView('<script>').name, findView(null).name]).toStrictEqual(['1.0', '1.0'])
  })

  it('escapes what nobody sees, and what reorders the text around it', async () => {
    const html = await render(card({ name: 'a\u202eb\u200b\u{e0041}<' }))
    expect(html).toContain('<bdi>&quot;a\\u202eb\\u200b\\udb40\\udc41&lt;&quot;</bdi>')
  })
})

describe('the head of the page', () => {
  it('says where the card is, and what previews show', async () => {
    const html = await render(
      card({ name: 'Wea"ther\u202e', provider: { organization: 'E', url: 'https://e.example' } }),
    )
    for (const element of [
      '<title>Wea&quot;ther</title>',
      '<link rel="canonical" href="https://host.example/agents/weather"/>',
      '<link rel="alternate" type="application/json" href="https://host.example/agents/weather/.well-known/agent-card.json"',
      '<meta property="og:title" content="Wea&quot;ther"/>',
      '<meta property="og:description" content="Tells the weather. Of any place."/>',
      '<meta property="og:url" content="https://host.example/agents/weather"/>',
      '<meta name="twitter:card" content="summary"/>',
    ])
      expect(html).toContain(element)
  })

  it('has structured data that ends no script element', async () => {
    const html = await render(card({ name: '</script><script>alert(1)</script>' }))
    const json = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(html)?.[1] ?? ''
    expect(json).not.toMatch(/[<>&]/)
    expect(JSON.parse(json)).toStrictEqual({
      '@context': 'https://schema.org',
      '@type': 'SoftwareApplication',
      name: '</script><script>alert(1)</script>',
      description: 'Tells the weather. Of any place.',
      applicationCategory: 'AI agent',
      softwareVersion: '1.2.3',
      url: 'https://host.example/agents/weather',
      dateModified: '2026-11-22T14:03:00.000Z',
    })
    // The data, the script of the page and the one that opens the console.
    expect(html.match(/<script/g)).toHaveLength(3)
  })
})

describe('the weight of the page', () => {
  const styles = globSync('src/pages/**/*.css').map(path => readFileSync(path, 'utf8'))

  it('is at most 20 KiB with its styles, compressed, and an ordinary card needs no cut', async () => {
    for (const file of ['echo.yaml', 'weather.yaml']) {
      const html = await render(parse(readFileSync(`examples/cards/${file}`, 'utf8')))
      expect(gzipSync(html).length + gzipSync(styles.join('\n')).length, file).toBeLessThanOrEqual(20 * 1024)
    }
    expect(await render(card({}))).not.toMatch(/too large|is long/)
  })

  const skill = (index: number, piece: string): JsonObject => ({
    id: `s${index}`,
    name: 'Skill',
    description: piece.repeat(400),
    tags: Array.from({ length: 50 }, (_, tag) => `${piece}${tag}`),
  })
  it('is below 1 MB for a card of 256 KiB, and names the document', async () => {
    for (const piece of ['a', '"', '&', '<']) {
      const html = await render(card({ skills: Array.from({ length: 250 }, (_, index) => skill(index, piece)) }))
      expect(html.length, piece).toBeLessThan(1_000_000)
      const text = textOf(html)
      expect(text).toContain('This card is too large for a page, which shows a part of it. The raw document has all.')
      expect(text).toContain('This document is long: its first 32,768 characters follow.')
      expect(text).toContain('Skills (250)')
    }
  })

  it('is below 600 KB for a card that requires 128 KiB of extensions', async () => {
    for (const piece of ['日', '<']) {
      const uris = Array.from({ length: 8 }, (_, index) => piece.repeat(15_999) + index)
      const html = await render(card({ capabilities: { extensions: uris.map(uri => ({ uri, required: true })) } }))
      expect(html.length, piece).toBeLessThan(600_000)
      expect(snippetIn(html, 'curl')).toBe(curlOfCard)
      expect(html).not.toContain('snippet-python')
    }
  })

  it('costs about the same for ten times as many invisible characters, beyond those that it shows', () => {
    const size = 40_000
    const documents = new Map([size, 10 * size].map(count => [count, { name: '\u202e'.repeat(count) }]))
    const render = (count: number) => CardDocument({ id: 'weather', view: null, document: documents.get(count) ?? {} })
    expect(growth(size, count => String(render(count)))).toBeLessThan(4)
  })
})

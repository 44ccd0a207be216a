import { pathOf } from '../../a2a/index.ts'
import { type AgentCard, type CallTarget, toTarget, wireVersions } from '../../card/model/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { MAX_EXAMPLE_CALL_LENGTH } from '../../limits.ts'
import { webUrl } from '../text/index.ts'
import { bearerHeader, type Credential, callCredentials } from './credentials.ts'
import type { CardFacts } from './facts.ts'
import { javascriptText, javascriptValue, pythonText, pythonValue, shell, shellWith } from './literals.ts'
import { type Part, samplePart } from './sample.ts'
import { visibleJson } from './text.ts'

/** Code that calls the agent as it stands. `variables` are the environment variables that it reads. */
export type Snippet = { name: 'curl' | 'javascript' | 'python'; title: string; code: string; variables: string[] }

/** What all snippets of an agent are made of. */
type Call = {
  target: CallTarget | undefined
  part: Part
  /** The URIs of the extensions that a client must declare. */
  extensions: string[]
  /** What the call sends. */
  credentials: Credential[]
  /** What the request for the card sends. */
  forCard: Credential[]
}

/** Returns code for an agent: a shell command, and programs with the official SDKs. Only a binding over HTTP can be called. */
export const snippetsFor = (facts: CardFacts): Snippet[] => {
  const { card } = facts
  const full: Call = {
    target: preferredTarget(card),
    part: samplePart(card, facts.tool),
    extensions: (card.capabilities.extensions ?? []).filter(({ required }) => required).map(({ uri }) => uri),
    ...credentialsFor(facts),
  }
  // A longer one is no example for people, and no server accepts such a header or URL.
  const isTooLong = JSON.stringify(full).length > MAX_EXAMPLE_CALL_LENGTH
  const call = isTooLong ? { ...full, target: undefined, credentials: [] } : full
  const used = [...call.credentials, ...call.forCard].flatMap(credential =>
    Object.entries(credential).flatMap(([member, value]) => (isVariable(member) ? [value] : [])),
  )
  const variables = [...new Set(used)]
  const command: Snippet = { name: 'curl', title: 'curl', code: curl(facts, call), variables }
  if (call.target === undefined) return [command]
  return [
    command,
    { name: 'javascript', title: 'JavaScript', code: javascript(facts, call), variables },
    { name: 'python', title: 'Python', code: python(facts, call), variables },
  ]
}

const isVariable = (member: string): boolean => ['variable', 'user', 'password', 'certificate', 'key'].includes(member)

/** An internal agent asks for a token of this host: for its card, and behind the gateway for its calls. */
const credentialsFor = ({ card, route, visibility }: CardFacts): Pick<Call, 'credentials' | 'forCard'> => {
  const credentials = callCredentials(card)
  if (visibility === 'public') return { credentials, forCard: [] }
  const hostToken = bearerHeader('HOST_TOKEN')
  if (route === 'direct') return { credentials, forCard: [hostToken] }
  const usesHeader = (each: Credential) =>
    each.kind === 'basic' || (each.kind === 'header' && each.name === hostToken.name)
  return { credentials: [hostToken, ...credentials.filter(each => !usesHeader(each))], forCard: [hostToken] }
}

/** Returns the newest version over JSON-RPC, else over HTTP; undefined for an agent that only other bindings reach. */
const preferredTarget = ({ supportedInterfaces }: AgentCard): CallTarget | undefined => {
  const targets = supportedInterfaces.flatMap(each => toTarget(each) ?? [])
  for (const version of wireVersions.toReversed()) {
    const [first, ...others] = targets.filter(target => target.version === version)
    if (first) return [first, ...others].find(({ binding }) => binding === 'JSONRPC') ?? first
  }
  return undefined
}

// curl

/** Stands for the id of the message: every run sends another. */
const RUN_ID = '0-run-id-0'

const curl = ({ cardUrl }: CardFacts, { target, part, extensions, credentials, forCard }: Call): string => {
  if (target === undefined) return [`curl -sS ${shell(cardUrl)}`, ...forCard.flatMap(curlOptions)].join(' \\\n  ')
  const { url, body } = curlRequest(target, part)
  const keys = credentials.flatMap(credential =>
    credential.kind === 'query' ? [[encodeURIComponent(credential.name), credential.variable] as const] : [],
  )
  const separator = url.includes('?') ? '&' : '?'
  const query = keys.map(([name, variable], index) => shellWith(`${index === 0 ? separator : '&'}${name}=`, variable))
  return [
    // Without -g, curl takes brackets and braces for many addresses.
    `curl ${/[[\]{}]/.test(url) ? '-gsS' : '-sS'} ${shell(url)}${query.join('')}`,
    `-H 'Content-Type: application/json'`,
    ...(target.version === '1.0' ? [`-H 'A2A-Version: 1.0'`] : []),
    ...(extensions.length > 0
      ? [`-H ${shell(`${target.version === '1.0' ? '' : 'X-'}A2A-Extensions: ${headerText(extensions)}`)}`]
      : []),
    ...credentials.flatMap(curlOptions),
    `-d ${shell(visibleJson(body)).replace(RUN_ID, `'"$(date +%s)"'`)}`,
  ].join(' \\\n  ')
}

/** Returns the value of a header field, which has no characters but those of ASCII. */
const headerText = (extensions: readonly string[]): string =>
  extensions.map(uri => uri.toWellFormed().replace(/[^!-~]/gu, encodeURIComponent)).join(', ')

const curlOptions = (credential: Credential): string[] => {
  if (credential.kind === 'header')
    return [`-H ${shellWith(`${credential.name}: ${credential.prefix}`, credential.variable)}`]
  if (credential.kind === 'basic') return [`-u "$${credential.user}:$${credential.password}"`]
  if (credential.kind === 'certificate') return [`--cert "$${credential.certificate}"`, `--key "$${credential.key}"`]
  return []
}

const curlRequest = (target: CallTarget, part: Part): { url: string; body: JsonObject } => {
  const { url, binding, version, tenant } = target
  const message = messageIn(target, part)
  const base = webUrl(url) ?? url
  if (binding === 'JSONRPC') {
    const method = version === '1.0' ? 'SendMessage' : 'message/send'
    const params = { message, ...(tenant !== undefined && { tenant }) }
    return { url: base, body: { jsonrpc: '2.0', id: 1, method, params } }
  }
  const prefix = tenant === undefined ? '' : `${encodeURIComponent(tenant)}/`
  return { url: `${base.replace(/\/$/, '')}/${prefix}${pathOf('send', version)}`, body: { message } }
}

/** Writes the message in the form of a binding and version. */
const messageIn = ({ binding, version }: CallTarget, part: Part): JsonObject => {
  const common = { messageId: RUN_ID, role: 'ROLE_USER' }
  if (version === '1.0') return { ...common, parts: [part] }
  const isJsonRpc = binding === 'JSONRPC'
  const content = isJsonRpc ? withKind(part) : inProtoV03(part)
  return isJsonRpc ? { ...common, role: 'user', kind: 'message', parts: [content] } : { ...common, content: [content] }
}

const withKind = (part: Part): JsonObject => {
  if ('text' in part) return { kind: 'text', text: part.text }
  if ('data' in part) return { kind: 'data', data: part.data }
  return { kind: 'file', file: { uri: part.url, mimeType: part.mediaType } }
}

const inProtoV03 = (part: Part): JsonObject => {
  if ('text' in part) return { text: part.text }
  if ('data' in part) return { data: { data: part.data } }
  return { file: { fileWithUri: part.url, mimeType: part.mediaType } }
}

// JavaScript

const javascript = ({ cardUrl }: CardFacts, { target, part, extensions, credentials, forCard }: Call): string => {
  const legacy = target?.version === '0.3' ? ['legacyCompat: { enabled: true }'] : []
  const isPlain = credentials.length + forCard.length + legacy.length === 0
  const transports = ['JsonRpcTransportFactory', 'RestTransportFactory']
  const names = isPlain ? ['ClientFactory'] : ['ClientFactory', 'DefaultAgentCardResolver', ...transports]
  const object = (members: string[]) => (members.length === 0 ? '' : `{ ${members.join(', ')} }`)
  const forCalls = object([...(credentials.length > 0 ? ['fetchImpl: fetchAgent'] : []), ...legacy])
  const forResolver = object([...(forCard.length > 0 ? ['fetchImpl: fetchCard'] : []), ...legacy])
  const factory = isPlain
    ? 'const factory = new ClientFactory()'
    : `${forCalls === '' ? '' : `const options = ${forCalls}\n`}const factory = new ClientFactory({
  transports: [${transports.map(name => `new ${name}(${forCalls === '' ? '' : 'options'})`).join(', ')}],
  cardResolver: new DefaultAgentCardResolver(${forResolver}),
})`
  const headers =
    extensions.length > 0
      ? `, {\n  serviceParameters: { 'A2A-Extensions': ${javascriptText(headerText(extensions))} },\n}`
      : ''
  return `// npm install @a2a-js/sdk
import { SendMessageRequest } from '@a2a-js/sdk'
import { ${names.join(', ')} } from '@a2a-js/sdk/client'
${fetchFunction('fetchCard', forCard)}${fetchFunction('fetchAgent', credentials)}
${factory}
const client = await factory.createFromUrl(${javascriptText(cardUrl)}, '')
const request = SendMessageRequest.fromJSON({
  message: {
    messageId: crypto.randomUUID(),
    role: 'ROLE_USER',
    parts: [${javascriptValue(part)}],
  },
})
console.dir(await client.sendMessage(request${headers}), { depth: null })`
}

const fetchFunction = (name: string, credentials: readonly Credential[]): string => {
  if (credentials.length === 0) return ''
  return `
const ${name} = (input, init) => {
  const url = new URL(input)
  const headers = new Headers(init?.headers)
${credentials.map(javascriptLine).join('\n')}
  return fetch(url, { ...init, headers })
}
`
}

const javascriptLine = (credential: Credential): string => {
  const env = (variable: string) => `process.env.${variable}`
  if (credential.kind === 'header') {
    const { name, prefix, variable } = credential
    const value =
      prefix === '' ? env(variable) : `\`${prefix.replaceAll('`', '\\`').replaceAll('$', '\\$')}\${${env(variable)}}\``
    return `  headers.set(${javascriptText(name)}, ${value})`
  }
  if (credential.kind === 'query')
    return `  url.searchParams.set(${javascriptText(credential.name)}, ${env(credential.variable)})`
  if (credential.kind === 'basic')
    return `  headers.set('Authorization', \`Basic \${btoa(\`\${${env(credential.user)}}:\${${env(credential.password)}}\`)}\`)`
  return '  // The agent asks for a TLS client certificate: give fetch a dispatcher that has one.'
}

// Python

const python = ({ cardUrl, card }: CardFacts, { part, extensions, credentials, forCard }: Call): string => {
  const bindings = card.supportedInterfaces.map(({ protocolBinding }) => protocolBinding)
  const isJsonRpc = bindings.includes('JSONRPC')
  const needsData = 'data' in part
  const usesEnvironment = credentials.length + forCard.length > 0
  const certificate = credentials.find(({ kind }) => kind === 'certificate')
  const context = extensions.length > 0
  const imports = ['A2ACardResolver', ...(context ? ['ClientCallContext'] : []), 'ClientConfig', 'create_client']
  const client =
    certificate?.kind === 'certificate'
      ? `timeout=60, cert=(${pythonEnv(certificate.certificate)}, ${pythonEnv(certificate.key)})`
      : 'timeout=60'
  const config = isJsonRpc ? 'httpx_client=http' : 'httpx_client=http, supported_protocol_bindings=["HTTP+JSON"]'
  const sent = context ? 'request, context=context' : 'request'
  const lines = [
    '# pip install a2a-sdk',
    'import asyncio',
    ...(usesEnvironment ? ['import os'] : []),
    'import uuid',
    '',
    'import httpx',
    `from a2a.client import ${imports.join(', ')}`,
    'from a2a.types import Message, Part, Role, SendMessageRequest',
    ...(needsData
      ? ['from google.protobuf.json_format import ParseDict', 'from google.protobuf.struct_pb2 import Value']
      : []),
    '',
    '',
    'async def main():',
    `    async with httpx.AsyncClient(${client}) as http:`,
    ...forCard.map(pythonLine),
    `        card = await A2ACardResolver(http, ${pythonText(cardUrl.replace(/\/\.well-known\/.*$/, ''))}).get_agent_card()`,
    ...forCard.flatMap(each => (credentials.includes(each) ? [] : [`        del http.headers["Authorization"]`])),
    ...credentials.flatMap(credential => (forCard.includes(credential) ? [] : pythonLine(credential))),
    `        client = await create_client(card, ClientConfig(${config}))`,
    ...(context
      ? [
          `        context = ClientCallContext(service_parameters={"A2A-Extensions": ${pythonText(headerText(extensions))}})`,
        ]
      : []),
    '        message = Message(',
    '            message_id=str(uuid.uuid4()),',
    '            role=Role.ROLE_USER,',
    `            parts=[${pythonPart(part)}],`,
    '        )',
    '        request = SendMessageRequest(message=message)',
    `        async for event in client.send_message(${sent}):`,
    '            print(event)',
    '',
    '',
    'asyncio.run(main())',
  ]
  return lines.join('\n')
}

const pythonEnv = (variable: string): string => `os.environ["${variable}"]`

const pythonLine = (credential: Credential): string => {
  if (credential.kind === 'header') {
    const { name, prefix, variable } = credential
    const value = prefix === '' ? pythonEnv(variable) : `${pythonText(prefix)} + ${pythonEnv(variable)}`
    return `        http.headers[${pythonText(name)}] = ${value}`
  }
  if (credential.kind === 'query')
    return `        http.params = http.params.set(${pythonText(credential.name)}, ${pythonEnv(credential.variable)})`
  if (credential.kind === 'basic')
    return `        http.auth = (${pythonEnv(credential.user)}, ${pythonEnv(credential.password)})`
  return '        # The client certificate is in the options of the HTTP client above.'
}

const pythonPart = (part: Part): string => {
  if ('data' in part) return `Part(data=ParseDict(${pythonValue(part.data)}, Value()))`
  const type = part.mediaType === undefined ? '' : `, media_type=${pythonText(part.mediaType)}`
  return 'text' in part ? `Part(text=${pythonText(part.text)}${type})` : `Part(url=${pythonText(part.url)}${type})`
}

import { writeObject } from '../../a2a/bridge/index.ts'
import { methodOf, pathOf } from '../../a2a/index.ts'
import { type CallTarget, isPreV1, versions, wireVersions } from '../../card/model/index.ts'
import type { Credential } from '../../card/read/index.ts'
import { isJsonObject, type Json, type JsonObject, jsonEntries } from '../../json/index.ts'
import { webUrl } from '../components/index.ts'
import { visibleJson } from './bound-card.ts'
import type { CardFacts } from './card-facts.ts'
import type { ExampleCall, Part } from './example-call.ts'

/** Code that calls the agent as it stands. `variables` are the environment variables that it reads. */
export type Snippet = { name: 'curl' | 'javascript' | 'python'; title: string; code: string; variables: string[] }

/** Returns code for an agent: a shell command, and programs with the official SDKs if they can call it. */
export const snippetsFor = (facts: CardFacts, call: ExampleCall): Snippet[] => {
  const variables = [
    ...new Set([...call.credentials, ...call.forCard].flatMap(each => writeCredential(each).variables)),
  ]
  const writers = call.target === undefined ? [WRITERS[0]] : WRITERS
  return writers.map(([name, title, write]) => ({ name, title, code: write(facts, call), variables }))
}

/** Writes a credential in each language, and names the environment variables that have it. */
const writeCredential = (credential: Credential) => {
  const nodeEnv = (variable: string) => `process.env.${variable}`
  if (credential.kind === 'basic') {
    const { user, password } = credential
    const pair = `\`\${${nodeEnv(user)}}:\${${nodeEnv(password)}}\``
    return {
      variables: [user, password],
      curl: [`-u "$${user}:$${password}"`],
      javascript: `headers.set('Authorization', \`Basic \${btoa(${pair})}\`)`,
      python: `http.auth = (${pythonEnv(user)}, ${pythonEnv(password)})`,
    }
  }
  if (credential.kind === 'certificate')
    return {
      variables: [credential.certificate, credential.key],
      curl: [`--cert "$${credential.certificate}"`, `--key "$${credential.key}"`],
      javascript: '// The agent asks for a TLS client certificate: give fetch a dispatcher that has one.',
      python: '# The client certificate is in the options of the HTTP client above.',
    }
  const { name, variable } = credential
  if (credential.kind === 'query')
    return {
      variables: [variable],
      // It is in the address.
      curl: [],
      javascript: `url.searchParams.set(${javascriptText(name)}, ${nodeEnv(variable)})`,
      python: `http.params = http.params.set(${pythonText(name)}, ${pythonEnv(variable)})`,
    }
  const { prefix } = credential
  const template = `\`${prefix.replaceAll('`', '\\`').replaceAll('$', '\\$')}\${${nodeEnv(variable)}}\``
  return {
    variables: [variable],
    curl: [`-H ${shellWith(`${name}: ${prefix}`, variable)}`],
    javascript: `headers.set(${javascriptText(name)}, ${prefix === '' ? nodeEnv(variable) : template})`,
    python: `http.headers[${pythonText(name)}] = ${prefix && `${pythonText(prefix)} + `}${pythonEnv(variable)}`,
  }
}

// curl

/** Stands for the id of the message: every run sends another. */
const RUN_ID = '0-run-id-0'

const curl = ({ cardUrl }: CardFacts, { target, part, extensions, credentials, forCard }: ExampleCall): string => {
  if (target === undefined)
    return [`curl -sS ${shell(cardUrl)}`, ...forCard.flatMap(each => writeCredential(each).curl)].join(' \\\n  ')
  const { url, body } = curlRequest(target, part)
  const { version } = target
  const { extensionsHeader } = versions[version]
  const inQuery = credentials.filter(credential => credential.kind === 'query')
  const query = inQuery.map(({ name, variable }, index) => {
    const separator = index === 0 && !url.includes('?') ? '?' : '&'
    return shellWith(`${separator}${encodeURIComponent(name)}=`, variable)
  })
  return [
    // Without -g, curl takes brackets and braces for many addresses.
    `curl ${/[[\]{}]/.test(url) ? '-gsS' : '-sS'} ${shell(url)}${query.join('')}`,
    `-H 'Content-Type: application/json'`,
    // The oldest version is that of a call that names none.
    ...(version === wireVersions[0] ? [] : [`-H 'A2A-Version: ${version}'`]),
    ...(extensions.length > 0 ? [`-H ${shell(`${extensionsHeader}: ${headerText(extensions)}`)}`] : []),
    ...credentials.flatMap(each => writeCredential(each).curl),
    `-d ${shell(visibleJson(body)).replace(RUN_ID, `'"$(date +%s)"'`)}`,
  ].join(' \\\n  ')
}

/** Returns the value of a header field, which has no characters but those of ASCII. */
const headerText = (extensions: readonly string[]): string =>
  extensions.map(uri => uri.toWellFormed().replace(/[^!-~]/gu, encodeURIComponent)).join(', ')

const curlRequest = (target: CallTarget, part: Part): { url: string; body: JsonObject } => {
  const { url, binding, version, tenant } = target
  const head = { messageId: RUN_ID, role: 'ROLE_USER' }
  const message = { ...head, ...writeObject('message', { ...head, parts: [part] }, target) }
  const base = webUrl(url) ?? url
  if (binding === 'JSONRPC') {
    const params = { message, ...(tenant !== undefined && { tenant }) }
    return { url: base, body: { jsonrpc: '2.0', id: 1, method: methodOf('send', version) ?? '', params } }
  }
  const prefix = tenant === undefined ? '' : `${encodeURIComponent(tenant)}/`
  return { url: `${base.replace(/\/$/, '')}/${prefix}${pathOf('send', version)}`, body: { message } }
}

// JavaScript

const javascript = ({ cardUrl }: CardFacts, { target, part, extensions, credentials, forCard }: ExampleCall) => {
  const legacy = target && isPreV1(target.version) ? ['legacyCompat: { enabled: true }'] : []
  const isPlain = credentials.length + forCard.length + legacy.length === 0
  const transports = ['JsonRpcTransportFactory', 'RestTransportFactory']
  const names = ['ClientFactory', ...(isPlain ? [] : ['DefaultAgentCardResolver', ...transports])]
  const object = (members: string[]) => (members.length === 0 ? '' : `{ ${members.join(', ')} }`)
  const forCalls = object([...(credentials.length > 0 ? ['fetchImpl: fetchAgent'] : []), ...legacy])
  const forResolver = object([...(forCard.length > 0 ? ['fetchImpl: fetchCard'] : []), ...legacy])
  const options = forCalls && 'options'
  const factory = isPlain
    ? 'const factory = new ClientFactory()'
    : `${forCalls && `const options = ${forCalls}\n`}const factory = new ClientFactory({
  transports: [${transports.map(name => `new ${name}(${options})`).join(', ')}],
  cardResolver: new DefaultAgentCardResolver(${forResolver}),
})`
  const announced = javascriptText(headerText(extensions))
  const headers = extensions.length > 0 ? `, {\n  serviceParameters: { 'A2A-Extensions': ${announced} },\n}` : ''
  return `// npm install @a2a-js/sdk
import { SendMessageRequest } from '@a2a-js/sdk'
import { ${names.join(', ')} } from '@a2a-js/sdk/client'
${fetchFunction('fetchCard', forCard)}${fetchFunction('fetchAgent', credentials)}
${factory}
const card = ${javascriptText(cardUrl)}
const client = await factory.createFromUrl(card, '')
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
${credentials.map(each => `  ${writeCredential(each).javascript}`).join('\n')}
  return fetch(url, { ...init, headers })
}
`
}

// Python

const python = ({ cardUrl, card }: CardFacts, { part, extensions, credentials, forCard }: ExampleCall): string => {
  const isJsonRpc = card.supportedInterfaces.some(({ protocolBinding }) => protocolBinding === 'JSONRPC')
  const usesEnvironment = credentials.length + forCard.length > 0
  const certificate = credentials.find(credential => credential.kind === 'certificate')
  const cert = certificate && `, cert=(${pythonEnv(certificate.certificate)}, ${pythonEnv(certificate.key)})`
  const hasContext = extensions.length > 0
  const parameters = `{"A2A-Extensions": ${pythonText(headerText(extensions))}}`
  const imports = ['A2ACardResolver', ...(hasContext ? ['ClientCallContext'] : []), 'ClientConfig', 'create_client']
  const config = isJsonRpc ? 'httpx_client=http' : 'httpx_client=http, supported_protocol_bindings=["HTTP+JSON"]'
  const base = pythonText(cardUrl.replace(/\/\.well-known\/.*$/, ''))
  const lines = [
    '# pip install a2a-sdk',
    `import asyncio, ${usesEnvironment ? 'os, ' : ''}uuid`,
    'import httpx',
    `from a2a.client import ${imports.join(', ')}`,
    'from a2a.types import Message, Part, Role, SendMessageRequest',
    'data' in part && 'from google.protobuf.json_format import ParseDict',
    'data' in part && 'from google.protobuf.struct_pb2 import Value',
    '',
    `agent = ${base}`,
    '',
    'async def main():',
    `    async with httpx.AsyncClient(timeout=60${cert ?? ''}) as http:`,
    ...forCard.map(pythonLine),
    '        card = await A2ACardResolver(http, agent).get_agent_card()',
    ...forCard.map(each => !credentials.includes(each) && '        del http.headers["Authorization"]'),
    ...credentials.map(credential => !forCard.includes(credential) && pythonLine(credential)),
    `        client = await create_client(card, ClientConfig(${config}))`,
    hasContext && `        context = ClientCallContext(service_parameters=${parameters})`,
    `        parts = [${pythonPart(part)}]`,
    '        message = Message(',
    '            message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=parts',
    '        )',
    '        request = SendMessageRequest(message=message)',
    `        async for event in client.send_message(request${hasContext ? ', context=context' : ''}):`,
    '            print(event)',
    '',
    'asyncio.run(main())',
  ]
  return lines.filter(line => line !== false).join('\n')
}

const pythonEnv = (variable: string): string => `os.environ["${variable}"]`

const pythonLine = (credential: Credential): string => `        ${writeCredential(credential).python}`

const pythonPart = (part: Part): string => {
  if ('data' in part) return `Part(data=ParseDict(${pythonValue(part.data)}, Value()))`
  const type = part.mediaType === undefined ? '' : `, media_type=${pythonText(part.mediaType)}`
  return 'text' in part ? `Part(text=${pythonText(part.text)}${type})` : `Part(url=${pythonText(part.url)}${type})`
}

const WRITERS = [
  ['curl', 'curl', curl],
  ['javascript', 'JavaScript', javascript],
  ['python', 'Python', python],
] as const

// Untrusted values as source code: whatever they are, they end no literal, and have no character that is invisible.

/** Quotes a text for a POSIX shell. */
const shell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A text, and a variable after it, as one word of a shell. */
const shellWith = (text: string, variable: string): string =>
  /^[\w /:;,.=-]*$/.test(text) ? `"${text}$${variable}"` : `${shell(text)}"$${variable}"`

/** Writes a text as a literal of JavaScript, in single quotes where it has none. */
const javascriptText = (text: string): string => {
  const literal = visibleJson(text)
  return /'|\\"/.test(literal) ? literal : `'${literal.slice(1, -1)}'`
}

const javascriptValue = (value: Json): string => {
  if (typeof value === 'string') return javascriptText(value)
  if (Array.isArray(value)) return `[${value.map(javascriptValue).join(', ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = jsonEntries(value).map(([name, member]) => {
    // As the name of a member, this one sets the prototype.
    const key = name === '__proto__' ? `['${name}']` : /^[a-z_$][\w$]*$/i.test(name) ? name : javascriptText(name)
    return `${key}: ${javascriptValue(member)}`
  })
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** Writes a text as Python reads it: JSON, but with one escape for a character that has two units in JSON. */
const pythonText = (text: string): string =>
  visibleJson(text.toWellFormed()).replace(/\\ud[89ab]\p{AHex}{2}\\ud[c-f]\p{AHex}{2}/gu, pair => {
    const codePoint = String(JSON.parse(`"${pair}"`)).codePointAt(0) ?? 0
    return `\\U${codePoint.toString(16).padStart(8, '0')}`
  })

const pythonValue = (value: Json): string => {
  if (typeof value === 'string') return pythonText(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (value === null) return 'None'
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = jsonEntries(value).map(([name, member]) => `${pythonText(name)}: ${pythonValue(member)}`)
  return `{${members.join(', ')}}`
}

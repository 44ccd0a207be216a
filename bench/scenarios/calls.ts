import { createHash } from 'node:crypto'
import { compare, type Effort, type Entrant, isMeasured, type Setting, warmUp } from '../compare.ts'
import {
  callBody,
  callPath,
  oldCallBody,
  type Post,
  postInit,
  quickCard,
  restCall,
  rpcCall,
  sameCall,
  samePost,
} from '../requests.ts'
import {
  answerBindings,
  buildsOf,
  cores,
  fetchAnswer,
  issueToken,
  originOf,
  registerAt,
  type Server,
  startCaddy,
  startHost,
  startPortkey,
  startWorker,
} from '../servers.ts'
import type { Figure } from '../stats.ts'
import type { Binding } from '../workerd-config.ts'
import { firstEvents, firstTranslatedEvents, longStreams } from './streams.ts'

const id = 'weather'
const text = 'weather in Tokyo'
const accepted = callBody('SendMessage', text)
const oldAccepted = oldCallBody('message/send', text)
const refused = callBody('SendMessage', text, ['image/png'])
const starting = callBody('SendMessage', 'start a task')
const reading = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'task-1' } })

/** Calls through the gate: refused ones beside Workers that send a constant, accepted ones beside other gateways. */
export const calls = async (setting: Setting): Promise<Figure[]> => {
  const { effort } = setting
  // On the core of the load: the agent's CPU time is not the gateway's.
  const agent = await startWorker('agent', {}, cores.load)
  const upstream = originOf(agent)
  const host = await startHost(setting, { vars: { ALLOWED_ORIGINS: upstream } })
  await registerAt(host, id, { card: quickCard(id), ...gatewayTo(upstream) })
  const url = originOf(host) + callPath(id)
  const refusal = answerBindings(await fetchAnswer(url, postInit(rpcCall(id, refused))))
  const reader = await startWorker('reader', refusal)
  const logger = await startWorker('reader', { ...refusal, LOG: { text: 'yes' } })
  const blind = await startWorker('blind', { UPSTREAM: { text: upstream } })
  const careful = await startWorker('careful', { UPSTREAM: { text: upstream } })
  for (const gateway of [blind, careful, host]) await checkForwarding(gateway, rpcCall(id, accepted))
  // The runtime compiles code that runs often, and the host has more of it than the Workers beside it.
  for (const server of [blind, careful, host]) await warmUp(server, sameCall(id, accepted), 10 * effort.warmUp)
  await warmUp(host, sameCall(id, refused), 5 * effort.warmUp)
  const refusing = { requests: sameCall(id, refused) }
  const forwarding = { requests: sameCall(id, accepted) }
  const gate = { ...forwarding, name: 'gate', server: host, better: 'higher' } as const
  const figures = [
    ...(await besides({ name: 'a Worker that reads', server: reader, ...refusing }, effort, [
      { name: 'Worker that parses and logs', server: logger, ...refusing },
      { name: 'refusal', server: host, ...refusing, better: 'higher' },
    ])),
    ...(await besides({ name: 'a Worker that parses and logs', server: logger, ...refusing }, effort, [
      { name: 'refusal', server: host, ...refusing, better: 'higher' },
    ])),
    ...(await besides({ name: 'a blind forwarder', server: blind, ...forwarding }, effort, [
      { name: 'careful forwarder', server: careful, ...forwarding },
      gate,
    ])),
    ...(await besides({ name: 'a careful forwarder', server: careful, ...forwarding }, effort, [gate])),
    ...(await besideCareful(host, upstream, effort)),
    ...(await besideUntranslated(host, effort)),
    ...(await besideSharedTasks(host, upstream, effort)),
    ...(await besideUncheckedAnswers(host, upstream, effort)),
    ...(await besideGateways(upstream, effort, gate)),
    ...(await firstEvents('a blind forwarder', [originOf(blind) + callPath(id), url], effort)),
    ...(await firstEvents('a careful forwarder', [originOf(careful) + callPath(id), url], effort)),
    ...(await firstTranslatedEvents(url, effort)),
    ...(await longStreams(host, id, effort)),
  ]
  await Promise.all([agent, host, reader, logger, blind, careful].map(server => server.stop()))
  return figures
}

/** Returns the parts of a manifest that send the calls of an agent through the gate to an address. */
export const gatewayTo = (upstream: string) => ({ route: 'gateway', upstream: { url: upstream } })

/** Compares servers with a baseline that the names of the figures mention. */
const besides = async (baseline: Entrant, effort: Effort, others: readonly Entrant[]): Promise<Figure[]> => {
  const named = others
    .map(other => ({ ...other, name: `${other.name}, beside ${baseline.name}` }))
    .filter(({ name }) => isMeasured(name, effort))
  return named.length === 0 ? [] : (await compare(baseline, named, effort)).slice(1)
}

/** A kind of call: what the agent supports, the call, and the bindings of a careful forwarder that does as much. */
type CallKind = {
  name: string
  id: string
  card?: object
  call: Post
  /** The call to the other build, if it differs. */
  otherCall?: Post
  bindings: Record<string, Binding>
}

/** Issues the token and registers the agents of calls that are not plain. Returns these calls. */
export const prepareKinds = async (host: Server, upstream: string): Promise<CallKind[]> => {
  const [token = '', otherToken = ''] = await Promise.all(buildsOf(host).map(issueToken))
  const plain = rpcCall(id, accepted)
  const withToken = (text: string): Post => ({
    ...plain,
    headers: { ...plain.headers, Authorization: `Bearer ${text}` },
  })
  const kinds: CallKind[] = [
    {
      ...{ name: 'gate with a token', id },
      ...{ call: withToken(token), otherCall: withToken(otherToken) },
      bindings: { TOKEN_DIGEST: { data: createHash('sha256').update(token).digest() } },
    },
    {
      ...{ name: 'gate in A2A 0.3', id: 'old', card: { protocolVersion: '0.3.0' } },
      call: rpcCall('old', oldAccepted, '0.3'),
      bindings: { VERSION: { text: '0.3' } },
    },
    {
      ...{ name: 'gate over HTTP+JSON', id: 'rest' },
      card: { supportedInterfaces: [{ url: upstream, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }] },
      call: restCall('rest', accepted),
      bindings: { REST_TYPE: { text: 'application/a2a+json' } },
    },
  ]
  for (const { id, card } of kinds)
    if (card) await registerAt(host, id, { ...gatewayTo(upstream), card: { ...quickCard(id), ...card } })
  return kinds
}

/** Compares calls that are not plain with a careful forwarder, and plain ones with one that saves what it can. */
const besideCareful = async (host: Server, upstream: string, effort: Effort): Promise<Figure[]> => {
  type Row = Pick<CallKind, 'call' | 'otherCall' | 'bindings'> & Pick<Entrant, 'name' | 'better'> & { beside: string }
  const kinds = await prepareKinds(host, upstream)
  const prebuilt = { call: rpcCall(id, accepted), bindings: { PREBUILT: { text: 'yes' } } }
  const rows: Row[] = [
    { ...prebuilt, name: 'gate', beside: 'a careful forwarder with prebuilt headers' },
    ...kinds.map(kind => ({ ...kind, beside: 'a careful forwarder', better: 'higher' as const })),
  ]
  const figures: Figure[] = []
  for (const { call, otherCall = call, bindings, beside, ...gate } of rows) {
    const careful = await startWorker('careful', { UPSTREAM: { text: upstream }, ...bindings })
    for (const gateway of [careful, host]) await checkForwarding(gateway, call, otherCall)
    const requests = samePost(call)
    const baseline = { name: beside, server: careful, requests }
    const measured = { ...gate, server: host, requests, otherRequests: samePost(otherCall) }
    figures.push(...(await besides(baseline, effort, [measured])))
    await careful.stop()
  }
  return figures
}

/** Compares a call of 0.3 to an agent of 1.0 with the same to an agent of 0.3, from `prepareKinds`. */
const besideUntranslated = async (host: Server, effort: Effort): Promise<Figure[]> => {
  const [translated, passed] = [rpcCall(id, oldAccepted, '0.3'), rpcCall('old', oldAccepted, '0.3')]
  for (const call of [translated, passed]) await checkForwarding(host, call)
  const baseline = { name: 'the same not translated', server: host, requests: samePost(passed) }
  const measured = { name: 'translated call', server: host, requests: samePost(translated) }
  return besides(baseline, effort, [{ ...measured, better: 'higher' }])
}

/** Compares calls of an agent whose tasks are kept apart with those of one whose tasks are shared. */
const besideSharedTasks = async (host: Server, upstream: string, effort: Effort): Promise<Figure[]> => {
  for (const tasks of ['owner', 'shared'])
    await registerAt(host, tasks, { card: quickCard(tasks), upstream: { url: upstream }, gate: { tasks } })
  await checkForwarding(host, rpcCall('owner', callBody('SendMessage', 'start task-1')))
  const figures: Figure[] = []
  for (const [name, body] of [
    ['message that starts a task', starting],
    ['call about a task', reading],
  ] as const) {
    await checkForwarding(host, rpcCall('owner', body))
    const baseline = { name: 'the same with shared tasks', server: host, requests: sameCall('shared', body) }
    const owner = { name, server: host, requests: sameCall('owner', body), isAbove: body === starting }
    figures.push(...(await besides(baseline, effort, [owner])))
  }
  return figures
}

/** Compares calls and streams whose answers are checked with those of an agent whose answers are not. */
const besideUncheckedAnswers = async (host: Server, upstream: string, effort: Effort): Promise<Figure[]> => {
  const unchecked = 'unchecked'
  const gate = { responses: 'off' }
  await registerAt(host, unchecked, { card: quickCard(unchecked), upstream: { url: upstream }, gate })
  const baseline = { name: 'the same with unchecked answers', server: host, requests: sameCall(unchecked, accepted) }
  const urls = [unchecked, id].map(each => originOf(host) + callPath(each)) as [string, string]
  return [
    ...(await besides(baseline, effort, [{ name: 'call', server: host, requests: sameCall(id, accepted) }])),
    ...(await firstEvents('a stream with unchecked answers', urls, effort)),
  ]
}

const PORTKEY = "Portkey's gateway on Node"
const CADDY = 'Caddy'

/** Compares the gate with the gateways that one would install. */
const besideGateways = async (upstream: string, effort: Effort, gate: Entrant): Promise<Figure[]> => {
  const names = [PORTKEY, CADDY].map(name => `${gate.name}, beside ${name}`)
  if (!names.some(name => isMeasured(name, effort))) return []
  const portkey = await startPortkey()
  const chat = { path: CHAT_PATH, body: chatBody, headers: chatHeaders(upstream) }
  await checkForwarding(portkey, chat)
  const requests = samePost(chat)
  const figures = await besides({ name: PORTKEY, server: portkey, requests }, effort, [gate])
  await portkey.stop()
  const caddy = await startCaddy(upstream)
  if (!caddy) {
    console.error('Caddy is not installed: no comparison with it.')
    return figures
  }
  await checkForwarding(caddy, rpcCall(id, accepted))
  figures.push(...(await besides({ ...gate, name: CADDY, server: caddy }, effort, [gate])))
  await caddy.stop()
  return figures
}

/** Portkey's gateway forwards chat completions, and takes the upstream from the headers of a request. */
const CHAT_PATH = '/v1/chat/completions'
const chatBody = JSON.stringify({ model: id, messages: [{ role: 'user', content: text }] })
const chatHeaders = (upstream: string) => ({
  'Content-Type': 'application/json',
  Authorization: 'Bearer the-key-of-the-bench',
  'x-portkey-provider': 'openai',
  'x-portkey-custom-host': `${upstream}/v1`,
})

/** Sends one request to a gateway. Fails unless the agent's response comes back, so that no error page is measured. */
export const checkForwarding = async (server: Server, call: Post, otherCall = call): Promise<void> => {
  const response = await fetch(originOf(server) + call.path, postInit(call))
  const body = await response.text()
  if (!body.includes('Sunny in Tokyo')) throw new Error(`not forwarded: ${response.status} ${body}`)
  if (server.other) await checkForwarding(server.other, otherCall)
}

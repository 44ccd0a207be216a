import { methodOf, type OperationName, operationNames, operations } from '../../src/a2a/operations.ts'
import { pathOf } from '../../src/a2a/rest-paths.ts'
import type { CallBinding, WireVersion } from '../../src/card/model/versions.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { createRandom, type Random } from '../fuzz/requests.ts'
import { hostNameOf, type TestedAgent, testedAgents } from './agents.ts'
import { addHeaders, type Headers, LIMITED_BLOCK } from './headers.ts'
import { changeJson, changeJsonText, toBytes } from './mutate.ts'
import { type CallParts, PAGE_PLACEHOLDER, paramsOf } from './parameters.ts'
import type { Script } from './responses.ts'

/** A request to the host. The body has one character for each byte, and `%%token:caller%%` in any text is a token. */
export type CallRequest = { method: string; path: string; headers: Headers; body?: string; isChunked?: boolean }

/** A request, and how the agent responds. */
export type Step = CallRequest & { script: Script }

/** A case: one or several requests to one agent, one after another. */
export type Case = { number: number; agent: TestedAgent; steps: Step[] }

/** Makes the case with a number, the same for the same seed. */
export const makeCase = (seed: number, number: number): Case => {
  const agent = testedAgents[number % testedAgents.length] as TestedAgent
  const random = createRandom(Math.imul(seed, 0x9e3779b1) + Math.imul(number, 0x85ebca6b))
  return {
    number,
    agent,
    steps:
      agent.kind.includes('owner') || agent.kind === 'secret'
        ? ownedSteps(agent, number, random)
        : plainSteps(agent, number, random),
  }
}

const plainSteps = (agent: TestedAgent, number: number, random: Random): Step[] => {
  const first = makeStep(agent, number, random)
  const isLimited = first.headers.some(([, value]) => value.startsWith(LIMITED_BLOCK))
  const count = isLimited ? 4 : random.chance(0.87) ? 1 : 2 + random.below(3)
  // The same request again meets caches and limits.
  return Array.from({ length: count }, (_, index) =>
    index === 0
      ? first
      : random.chance(isLimited ? 0.9 : 0.6)
        ? { ...first, script: scriptOf(number, random) }
        : makeStep(agent, number, random, random.chance(0.7) ? first.headers : undefined),
  )
}

/** A task is started; then calls of the same or another caller are about it. */
const ownedSteps = (agent: TestedAgent, number: number, random: Random): Step[] => {
  const first = makeStep(
    agent,
    number,
    random,
    undefined,
    random.chance(0.9) ? random.pick(['send', 'send', 'stream']) : undefined,
  )
  if (random.chance(0.8)) first.script.isGood = true
  const more = Array.from({ length: random.below(4) }, () =>
    makeStep(agent, number, random, random.chance(0.6) ? first.headers : undefined),
  )
  return [first, ...more]
}

const scriptOf = (caseNumber: number, random: Random, isGood = false): Script => ({
  seed: random.below(2 ** 31),
  isGood,
  caseNumber,
})

const makeStep = (
  agent: TestedAgent,
  number: number,
  random: Random,
  credentials?: Headers,
  wanted?: OperationName,
): Step => {
  const wantsCard = kindsWithExtendedCard.test(agent.kind) && random.chance(0.25)
  const operation = wanted ?? (wantsCard ? 'extendedCard' : random.pick(weightedOperations))
  const version: WireVersion = random.chance(0.55) ? '1.0' : '0.3'
  const binding: CallBinding = agent.kind === 'mcp' || random.chance(0.65) ? 'JSONRPC' : 'HTTP+JSON'
  const call = { operation, version, binding, random, number, agent }
  const step = binding === 'JSONRPC' ? rpcStep(call) : restStep(call)
  addHeaders(step, { version, number, random, credentials: credentials ?? usualCredentials(agent, random) })
  if (random.chance(0.02)) step.method = random.pick(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'])
  if (step.body !== undefined && random.chance(0.1)) step.isChunked = true
  return step
}

const kindsWithExtendedCard = /^(?:extended|far|identity|issuer)/

/** Returns credentials that a kind of agent needs for most of its operations, or undefined for any credentials. */
const usualCredentials = ({ kind }: TestedAgent, random: Random): Headers | undefined => {
  if (random.chance(0.35)) return undefined
  const bearer = (name: string): Headers => [['Authorization', `Bearer %%${name}%%`]]
  if (kind.startsWith('issuer')) return bearer(`jwt:${random.pick(['valid', 'partner', 'typed', 'no-subject'])}`)
  if (/^(?:secret|far-secret|tokens|internal)$/.test(kind)) return bearer('token:caller')
  if (/^(?:extended|far|identity)$/.test(kind)) return bearer(`token:${random.pick(['partner', 'staff', 'reader'])}`)
  return undefined
}

const weightedOperations: OperationName[] = [
  ...Array<OperationName>(9).fill('send'),
  ...Array<OperationName>(5).fill('stream'),
  ...(['getTask', 'getTask', 'listTasks', 'listTasks'] as const),
  ...operationNames.filter(name => !['send', 'stream', 'listTasks'].includes(name)),
]

// JSON-RPC

const goodIds: readonly Json[] = [1, 1, 'one', 'one', 0, -1, '', 9007199254740991, 'x'.repeat(200), 'é']
const oddIds: readonly Json[] = [null, 1.5, true, {}, [1]]

const rawBodies = [
  '',
  '{',
  '[]',
  '[[',
  'null',
  '1',
  '"a"',
  '{}',
  toBytes('\ufeff{}'),
  '['.repeat(3000),
  '{"a":'.repeat(3000),
  '\xff\xfe',
  '{"jsonrpc":"2.0"}',
]

const rpcStep = (call: CallParts): Step => {
  const { operation, version, random, number, agent } = call
  const method = random.chance(0.96)
    ? methodOf(operation, version)
    : random.pick([
        'tasks/send',
        'SetTaskPushNotificationConfig',
        'agent/extendedCard',
        'message/Send',
        'sendmessage',
        'toString',
        '',
        'rpc.discover',
        'tasks/list',
      ])
  const params = paramsOf(call)
  const { path, routed, headers } = rpcAddress(call, params)
  const body: JsonObject = {
    jsonrpc: '2.0',
    id: random.pick(random.chance(0.95) ? goodIds : oddIds),
    method: method ?? 'tasks/list',
    params: routed,
  }
  if (random.chance(0.03)) delete body.id
  if (random.chance(0.05)) body.params = { ...routed, tenant: random.pick(['a', '', 'north', agent.id]) }
  return {
    method: 'POST',
    path,
    headers,
    body: bodyText(body, random),
    script: scriptOf(number, random, random.chance(0.4)),
  }
}

/** Returns where a call is sent, and its parameters, which may name the agent. */
const rpcAddress = (
  { agent: { id }, random }: CallParts,
  params: JsonObject,
): { path: string; routed: JsonObject; headers: Headers } => {
  const chance = random.below(100)
  const query = random.chance(0.04)
    ? random.pick(['?A2A-Version=1.0', '?a2a-version=0.3', '?A2A-Version=9', '?access_token=%%token:caller%%', '?'])
    : ''
  if (chance < 80) return { path: `/agents/${id}/a2a${query}`, routed: params, headers: [] }
  if (chance < 86) return { path: `/agents/${id}${query}`, routed: params, headers: [] }
  if (chance < 91) return { path: `/a2a${query}`, routed: { ...params, tenant: id }, headers: [] }
  if (chance < 94) return { path: `/a2a${query}`, routed: params, headers: [['Host', hostNameOf(id)]] }
  if (chance < 98) return { path: `/a2a/v1${query}`, routed: { ...params, agentName: `Agent ${id}` }, headers: [] }
  return {
    path: random.pick(['/agents/none/a2a', '/a2a/v1', `/agents/${id}/a2a/`, `/agents/${id.toUpperCase()}/a2a`]),
    routed: params,
    headers: [],
  }
}

const bodyText = (body: Json, random: Random): string => {
  if (random.chance(0.65)) return toBytes(JSON.stringify(body))
  const chance = random.below(100)
  if (chance < 55)
    return toBytes(
      JSON.stringify(random.chance(0.7) ? changeJson(body, random) : changeJson(changeJson(body, random), random)),
    )
  if (chance < 85) return toBytes(changeJsonText(JSON.stringify(body), random))
  if (chance < 90) return toBytes(JSON.stringify([body, ...(random.chance(0.5) ? [body] : [])]))
  if (chance < 94) return toBytes(JSON.stringify(body, undefined, 2))
  if (chance < 95) return toBytes(JSON.stringify(body)).padEnd(random.pick([20_000, 70_000, 4_200_000]))
  return random.pick(rawBodies.slice(0, -1).concat(toBytes('{"jsonrpc":"2.0","id":1}')))
}

// HTTP+JSON

const restStep = (call: CallParts): Step => {
  const { operation, version, random, number, agent } = call
  const { http } = operations[operation]
  const template = pathOf(operation, version) ?? pathOf(operation, '1.0') ?? ''
  const params = paramsOf(call)
  const inPath = new Set<string>()
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    inPath.add(name)
    const value = String(params[name] ?? params.id ?? `task-${number}`)
    return random.chance(0.97)
      ? encodeURIComponent(value.toWellFormed())
      : random.pick(['%2e%2e', 'a%2Fb', '%zz', 'a;b', '%00', 'tasks%2Fa'])
  })
  const method = random.pick(http[0])
  const rest = Object.entries(params).filter(([name]) => !inPath.has(name))
  const hasBody = method === 'POST' && (rest.length > 0 || random.chance(0.7))
  const query = [
    ...(hasBody
      ? []
      : rest.map(
          ([name, value]) => `${name}=${value === PAGE_PLACEHOLDER ? value : encodeURIComponent(String(value))}`,
        )),
    ...(random.chance(0.05)
      ? [
          random.pick([
            'tenant=a',
            'tenant[]=a',
            'A2A-Version=1.0',
            'id=other',
            'access_token=%%token:caller%%',
            'historyLength=x',
            'a',
            `taskId=task-${number}`,
          ]),
        ]
      : []),
  ]
  const noisy = random.chance(0.06)
    ? random.pick([
        path.replace(':', '%3A'),
        `${path}/`,
        `/${path}`,
        path.toUpperCase(),
        `north/${path}`,
        `v1/${path}`,
        `${path}:x`,
      ])
    : path
  return {
    method,
    path: `/agents/${agent.id}/a2a/${noisy}${query.length > 0 ? `?${query.join('&')}` : ''}`.replace(
      /[^!-~]/g,
      character => encodeURIComponent(character),
    ),
    headers: [],
    ...(hasBody && { body: bodyText(Object.fromEntries(rest) as JsonObject, random) }),
    script: scriptOf(number, random, random.chance(0.4)),
  }
}

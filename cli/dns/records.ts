import { parseUrl } from '../../src/net/urls.ts'
import { UsageError } from '../exit-codes.ts'
import { DNS_AID_KEYS, formatServiceBinding, type ServiceBinding } from './svcb.ts'

/** The version of the draft that the records follow. */
export const DNS_AID_DRAFT = 'draft-mozleywilliams-dnsop-dnsaid-02'

/** An SVCB record of a zone. A client finds the agent without the optional ones, if it knows the agent's name. */
export type DnsRecord = { name: string; ttl: number; data: ServiceBinding; optional: boolean; purpose: string }

/** What the records of an agent are made from. */
export type PublishedAgent = {
  id: string
  /** The host name of its own, if it has one. */
  ownHost: string | undefined
  /** The URL of the host. */
  hostUrl: string
  /** The SHA-256 of its card in hexadecimal, which is the entity tag. */
  sha256: string
  /** The domain whose agent it is; by default, that of its host name. */
  domain: string | undefined
  ttl: number
}

/** The records of an agent, and the URL of the card that they point to. */
export type AgentRecords = { card: string; records: DnsRecord[] }

/** Returns the records by which clients find an agent: its own, an alias in the list of agents of its domain, and that list. */
export const describeRecords = ({ id, ownHost, hostUrl, sha256, domain, ttl }: PublishedAgent): AgentRecords => {
  const sharedHost = hostNameOf(hostUrl)
  const target = ownHost ?? sharedHost
  const card =
    ownHost === undefined
      ? `${hostUrl}/agents/${id}/.well-known/agent-card.json`
      : `https://${ownHost}/.well-known/agent-card.json`
  const { name, zone } = splitName(id, ownHost ?? sharedHost, ownHost !== undefined, domain)
  const owner = `${name}.${zone}`
  const connection = [
    ['alpn', 'h2,http/1.1'],
    ['port', '443'],
  ] as const
  const service: ServiceBinding = {
    ...{ priority: 1, target },
    params: new Map([
      ...connection,
      [DNS_AID_KEYS.cap, card],
      [DNS_AID_KEYS['cap-sha256'], Buffer.from(sha256, 'hex').toString('base64url')],
      [DNS_AID_KEYS.bap, 'a2a'],
      ...(ownHost === undefined ? [] : ([[DNS_AID_KEYS['well-known'], 'agent-card.json']] as const)),
    ]),
  }
  const index: ServiceBinding = {
    ...{ priority: 1, target: sharedHost },
    params: new Map([...connection, [DNS_AID_KEYS['well-known'], 'ai-catalog.json']]),
  }
  const records: DnsRecord[] = [
    { name: owner, ttl, data: service, optional: false, purpose: 'the agent, and the SHA-256 of its card' },
    {
      ...{ name: `${name}._agents.${zone}`, ttl, data: { priority: 0, target: owner, params: new Map() } },
      ...{ optional: true, purpose: 'for clients that list the agents of the domain' },
    },
    {
      ...{ name: `_index._agents.${zone}`, ttl, data: index },
      ...{ optional: true, purpose: 'one for all agents of the domain: where their catalog is' },
    },
  ]
  for (const record of records) rejectLongName(record.name)
  return { card, records }
}

/** Formats a record as a line of a zone file, with a full name, so that it means the same in every zone. */
export const formatRecord = ({ name, ttl, data }: DnsRecord): string =>
  `${name}. ${ttl} IN SVCB ${formatServiceBinding(data)}`

const hostNameOf = (hostUrl: string): string => {
  const { protocol, hostname, port } = new URL(hostUrl)
  const isPublic = protocol === 'https:' && port === '' && isDomainName(hostname)
  if (!isPublic)
    throw new UsageError(`${hostUrl} is not a public host, with https and a name: name one with --host or --url.`)
  return hostname
}

/** Parses the value of `--domain`. */
export const parseDomain = (text: string): string | undefined => {
  const hostname = /^[^\s/:@?#]+$/.test(text) ? (parseUrl(`https://${text}`)?.hostname.replace(/\.$/, '') ?? '') : ''
  return isDomainName(hostname) ? hostname : undefined
}

const isDomainName = (hostname: string): boolean =>
  hostname.includes('.') && /^[a-z0-9.-]+$/.test(hostname) && !/^[\d.]+$/.test(hostname)

/**
 * Returns the name of an agent in a zone. That of a host name of its own, such as `weather.example.com`, is its first label; any other
 * agent has its id for a name, below the host or the given domain.
 */
const splitName = (
  id: string,
  hostname: string,
  isOwn: boolean,
  domain: string | undefined,
): { name: string; zone: string } => {
  const [label = '', ...rest] = hostname.split('.')
  const parent = rest.join('.')
  if (isOwn && (domain === parent || (domain === undefined && rest.length > 1))) return { name: label, zone: parent }
  return { name: id, zone: domain ?? hostname }
}

/** The limits of RFC 1035 §2.3.4, without the dot at the end. */
const MAX_DOMAIN_NAME_LENGTH = 253
const MAX_LABEL_LENGTH = 63

const rejectLongName = (name: string): void => {
  if (name.length > MAX_DOMAIN_NAME_LENGTH || name.split('.').some(label => label.length > MAX_LABEL_LENGTH))
    throw new UsageError(`${name} is longer than a domain name can be: choose a shorter one with --domain.`)
}

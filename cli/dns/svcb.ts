/** The data of an SVCB record (RFC 9460): with priority 0, an alias. Parameters have the names that zone files have. */
export type ServiceBinding = { priority: number; target: string; params: ReadonlyMap<string, string> }

/** The keys of RFC 9460 §14.3.2 that a zone file writes by name. */
const REGISTERED_KEYS = ['mandatory', 'alpn', 'no-default-alpn', 'port', 'ipv4hint', 'ech', 'ipv6hint'] as const

/**
 * The keys that DNS-AID defines, with numbers for private use: IANA has assigned none, and servers accept no unknown names. They are those
 * of the reference implementation (dns-aid-core, docs/rfc/iana-considerations.md).
 */
export const DNS_AID_KEYS = {
  cap: 'key65400',
  'cap-sha256': 'key65401',
  bap: 'key65402',
  'well-known': 'key65409',
} as const

const draftNames = new Map<string, string>(Object.entries(DNS_AID_KEYS))

/** Returns the name of DNS-AID for a key; undefined for any other. */
export const draftNameOf = (key: string): string | undefined =>
  [...draftNames].find(([, numbered]) => numbered === key)?.[0]

/** Writes the data of a record as zone files have it. */
export const formatServiceBinding = ({ priority, target, params }: ServiceBinding): string =>
  [String(priority), `${target}.`, ...[...params].map(([key, value]) => `${key}=${quote(value)}`)].join(' ')

/** Writes a character string (RFC 1035 §5.1). */
const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`

/**
 * Parses the data of a record as resolvers write it: as zone files have it, or in the form for unknown types (RFC 3597 §5). Returns
 * undefined for anything else.
 */
export const parseServiceBinding = (data: string): ServiceBinding | undefined => {
  const generic = /^\\#\s+(\d+)\s+([0-9a-f\s]*)$/i.exec(data)
  return generic ? parseWire(Buffer.from((generic[2] ?? '').replace(/\s/g, ''), 'hex')) : parseZoneText(data)
}

/** One parameter: a key, and a value with or without quotes. */
const PARAMETER = /\s+([a-z0-9-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|((?:[^\s"\\]|\\.)*)))?/gy

const parseZoneText = (data: string): ServiceBinding | undefined => {
  const [start, priority = '', target = ''] = /^\s*(\d{1,5})\s+(\S+)/.exec(data) ?? []
  if (start === undefined) return undefined
  const params = new Map<string, string>()
  PARAMETER.lastIndex = start.length
  let end = start.length
  for (let match = PARAMETER.exec(data); match; match = PARAMETER.exec(data)) {
    const [, key = '', quoted, plain] = match
    params.set(draftNames.get(key) ?? key, unquote(quoted ?? plain ?? ''))
    end = PARAMETER.lastIndex
  }
  return data.slice(end).trim() === ''
    ? { priority: Number(priority), target: normalizeName(target), params }
    : undefined
}

const unquote = (text: string): string =>
  text.replace(/\\(?:(\d{3})|(.))/g, (_, decimal?: string, character = '') =>
    decimal === undefined ? character : String.fromCharCode(Number(decimal)),
  )

/** Returns a host name as it is compared: in lower case, without the dot at its end. */
export const normalizeName = (name: string): string => name.toLowerCase().replace(/\.$/, '')

/** Parses the wire format (RFC 9460 §2.2): priority, uncompressed name, then parameters with a key, a length and a value each. */
const parseWire = (bytes: Buffer): ServiceBinding | undefined => {
  try {
    const labels: string[] = []
    let at = 2
    for (let length = bytes.readUInt8(at++); length > 0; length = bytes.readUInt8(at++)) {
      labels.push(readText(bytes, at, length))
      at += length
    }
    const params = new Map<string, string>()
    while (at < bytes.length) {
      const [key, length] = [bytes.readUInt16BE(at), bytes.readUInt16BE(at + 2)]
      const value = bytes.subarray(at + 4, at + 4 + length)
      if (value.length < length) return undefined
      params.set(REGISTERED_KEYS[key] ?? `key${key}`, decodeValue(key, value))
      at += 4 + length
    }
    return { priority: bytes.readUInt16BE(0), target: normalizeName(labels.join('.')), params }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const readText = (bytes: Buffer, at: number, length: number): string => {
  if (at + length > bytes.length) throw new RangeError('cut off')
  return bytes.toString('latin1', at, at + length)
}

const decodeValue = (key: number, value: Buffer): string => {
  if (REGISTERED_KEYS[key] === 'alpn') return decodeAlpn(value).join(',')
  return REGISTERED_KEYS[key] === 'port' ? String(value.readUInt16BE(0)) : value.toString('latin1')
}

/** Each protocol has its length before it. */
const decodeAlpn = (value: Buffer): string[] => {
  const ids: string[] = []
  for (let at = 0; at < value.length; at += 1 + value.readUInt8(at))
    ids.push(readText(value, at + 1, value.readUInt8(at)))
  return ids
}

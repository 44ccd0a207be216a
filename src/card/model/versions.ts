/** The A2A bindings in which this host can forward calls. */
export const callBindings = ['JSONRPC', 'HTTP+JSON'] as const
export type CallBinding = (typeof callBindings)[number]

/** What sets a version of A2A apart. */
type Version = {
  /** The version to which this one only adds: clients and agents of the two understand each other. */
  follows?: string
  /** The other versions, by Major.Minor, that are called as this one. */
  includes: readonly string[]
  /** The dialect of the card that its clients read. */
  card: '0.3' | '1.0'
  /** The form of objects in each binding: JSON with `kind`, or ProtoJSON. */
  forms: Readonly<Record<CallBinding, string>>
  /** Whether the objects over JSON-RPC, which clients also send over HTTP+JSON, have a `kind`. */
  hasKinds: boolean
  /** The prefix of paths over HTTP+JSON. */
  pathPrefix: string
  /** The media type of bodies over HTTP+JSON. */
  restType: string
  extensionsHeader: string
  /** Whether calls can name a tenant. */
  hasTenants: boolean
  /** `details`: errors have google.rpc details. `data`: they have `data` of any form, and no wrapper over HTTP+JSON. */
  errors: 'data' | 'details'
  /** Whether clients that asked for a stream over JSON-RPC read an error as an event only. */
  readsErrorEvents: boolean
}

const v1_0 = {
  includes: [],
  card: '1.0',
  forms: { JSONRPC: 'proto-1.0', 'HTTP+JSON': 'proto-1.0' },
  hasKinds: false,
  pathPrefix: '',
  restType: 'application/a2a+json',
  extensionsHeader: 'A2A-Extensions',
  hasTenants: true,
  errors: 'details',
  readsErrorEvents: false,
} as const satisfies Version

/** The versions of A2A in which this host can forward calls, the oldest first. A new version is a row here. */
export const versions = {
  '0.3': {
    // 0.2 has the methods and messages of 0.3; 0.1 has neither.
    includes: ['0.2'],
    card: '0.3',
    // Over HTTP, the official agents and clients of 0.3 write ProtoJSON.
    forms: { JSONRPC: 'json-0.3', 'HTTP+JSON': 'proto-0.3' },
    hasKinds: true,
    pathPrefix: 'v1/',
    restType: 'application/json',
    extensionsHeader: 'X-A2A-Extensions',
    hasTenants: false,
    errors: 'data',
    readsErrorEvents: true,
  },
  '1.0': v1_0,
} as const satisfies Record<string, Version>

/** A version of A2A in which this host can forward calls. */
export type WireVersion = keyof typeof versions
export const wireVersions = Object.keys(versions) as WireVersion[]

/** Every header that names extensions, the newest first. */
export const extensionsHeaders = [...new Set(wireVersions.map(version => versions[version].extensionsHeader))].reverse()

/** The newest version. */
export const latestVersion = wireVersions.at(-1) as WireVersion

/** The wire version for each Major.Minor. */
export const wireVersionOf: ReadonlyMap<string, WireVersion> = new Map(
  wireVersions.flatMap(version => [...versions[version].includes, version].map(name => [name, version] as const)),
)

/** Returns a version and those that it follows, the newest first: what one of them has, it has too. */
export const lineOf = (version: WireVersion): WireVersion[] => {
  const { follows }: Version = versions[version]
  return follows === undefined ? [version] : [version, ...lineOf(follows as WireVersion)]
}

/** Returns what a version has of its own, else that of the version that it follows. */
export const inLine = <Value>(values: Partial<Record<WireVersion, Value>>, version: WireVersion): Value | undefined =>
  lineOf(version)
    .map(each => values[each])
    .find(value => value !== undefined)

/** Returns whether one version only adds to the other. */
export const isCompatible = (one: WireVersion, other: WireVersion): boolean =>
  lineOf(one).includes(other) || lineOf(other).includes(one)

/** The binding and version of calls. */
export type Protocol = { binding: CallBinding; version: WireVersion }

/** The form of objects: JSON with `kind`, as in 0.3 over JSON-RPC; or ProtoJSON. */
export type Form = (typeof versions)[WireVersion]['forms'][CallBinding]

/** Returns the form of objects in a protocol. */
export const formOf = ({ binding, version }: Protocol): Form => versions[version].forms[binding]

/** Returns the Major.Minor of an A2A version, as patch numbers are ignored. Returns any other text unchanged. */
export const majorMinor = (version: string): string => /^(\d+\.\d+)(?:\.\d+)?$/.exec(version.trim())?.[1] ?? version

/** Returns whether a version of A2A is older than 1.0. */
export const isPreV1 = (version: string): boolean => version.startsWith('0.')

/** Adds the patch number that readers of v0.x expect. */
export const toPatchVersion = (version: string): string => (/^0\.\d+$/.test(version) ? `${version}.0` : version)

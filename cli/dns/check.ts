import * as v from 'valibot'
import { essence, isJsonType } from '../../src/http/media-type.ts'
import { fetchDocument, HostError } from '../client/index.ts'
import type { Context } from '../context.ts'
import type { DnsRecord } from './records.ts'
import { draftNameOf, normalizeName, parseServiceBinding, type ServiceBinding } from './svcb.ts'

/** The resolver that is used by default: its answers are JSON in the form of Google Public DNS. */
export const DEFAULT_RESOLVER = 'https://cloudflare-dns.com/dns-query'

/** One part of a record that is not as it should be. */
export type Difference = { what: string; expected: string; found: string }

/** What DNS has of a record. `isSigned`: the resolver has verified the answer with DNSSEC. */
export type CheckedRecord = { record: DnsRecord; isSigned: boolean } & (
  | { state: 'present' }
  | { state: 'missing' }
  | { state: 'different'; differences: Difference[] }
)

const SVCB_TYPE = 64
const NXDOMAIN = 3
const MAX_ANSWER_BYTES = 64 * 1024
const RESOLVER_TIMEOUT_SECONDS = 10

const Answer = v.object({
  Status: v.number(),
  AD: v.optional(v.boolean(), false),
  Answer: v.optional(v.array(v.object({ type: v.number(), data: v.string() })), []),
})

/** Compares a record with what a resolver answers. Throws a HostError if it does not. */
export const checkRecord = async (
  record: DnsRecord,
  resolver: string,
  context: Pick<Context, 'fetch'>,
): Promise<CheckedRecord> => {
  const url = new URL(resolver)
  url.searchParams.set('name', record.name)
  url.searchParams.set('type', String(SVCB_TYPE))
  const fetched = await fetchDocument(
    url.href,
    {
      headers: { Accept: 'application/dns-json' },
      accepts: type => isJsonType(type) || essence(type) === 'application/dns-json',
      ...{ maxBytes: MAX_ANSWER_BYTES, timeoutSeconds: RESOLVER_TIMEOUT_SECONDS },
    },
    context,
  )
  if ('error' in fetched) throw new HostError(`the resolver ${url.origin} ${fetched.error}`)
  const parsed = v.safeParse(Answer, fetched.document)
  if (!parsed.success) throw new HostError(`the resolver ${url.origin} does not answer in JSON as dns.google does`)
  const { Status, AD: isSigned, Answer: answers } = parsed.output
  if (Status !== 0 && Status !== NXDOMAIN)
    throw new HostError(`the resolver ${url.origin} cannot resolve ${record.name} (status ${Status})`)
  const found = answers.filter(({ type }) => type === SVCB_TYPE).map(({ data }) => compare(record, data))
  // Several records of one name are alternatives.
  const [best] = found.sort((one, other) => one.length - other.length)
  if (best === undefined) return { record, isSigned, state: 'missing' }
  return best.length === 0
    ? { record, isSigned, state: 'present' }
    : { record, isSigned, state: 'different', differences: best }
}

/** Further parameters, such as address hints, are no difference. */
const compare = ({ name, data: expected }: DnsRecord, text: string): Difference[] => {
  const found = parseServiceBinding(text)
  if (found === undefined) return [{ what: 'record', expected: 'SVCB', found: text }]
  const differences = [
    difference('priority', String(expected.priority), String(found.priority)),
    difference('target', expected.target, targetOf(found, name)),
    ...[...expected.params].map(([key, value]) =>
      difference(describeKey(key), value, found.params.get(key) ?? 'nothing'),
    ),
  ]
  return differences.filter(each => each.expected !== each.found)
}

const difference = (what: string, expected: string, found: string): Difference => ({ what, expected, found })

/** The root stands for the name of the record itself (RFC 9460 §2.5.2). */
const targetOf = ({ priority, target }: ServiceBinding, name: string): string =>
  priority > 0 && target === '' ? normalizeName(name) : target

const describeKey = (key: string): string => {
  const name = draftNameOf(key)
  return name === undefined ? key : `${key} (${name})`
}

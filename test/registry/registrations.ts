import type { Source } from '../../src/card/manifest/upstream.ts'
import type { RepresentationName } from '../../src/card/model/constants.ts'
import type { Registration, SourceFailure, SourceRecord } from '../../src/registry/records.ts'

/** Where the cards of these tests come from. */
export const source: Source = {
  kind: 'card',
  url: 'https://upstream.example/card',
  ttl: 300,
  staleIfError: 3600,
  pin: false,
}

/** A document as it is kept; what it says is its entity tag too. */
export const representation = (text: string) => ({
  etag: `"${text}"`,
  bytes: new Uint8Array(new TextEncoder().encode(JSON.stringify({ name: text }))) as Uint8Array<ArrayBuffer>,
})

/** A registration of an agent whose card says `text`; of one without a card, where that is undefined. */
export const registration = (
  id: string,
  text: string | undefined,
  more: Partial<Omit<Registration, 'representations'>> = {},
): Registration => {
  const names: RepresentationName[] = ['agent-card.json', 'agent.json', '1.0']
  return {
    id,
    manifest: '{}',
    manifestEtag: '"manifest"',
    visibility: 'public',
    hosts: [],
    origin: 'https://host.example',
    summary: { name: text ?? id, description: '', version: '', url: '' },
    representations: Object.fromEntries(text === undefined ? [] : names.map(name => [name, representation(text)])),
    profile: representation(`profile of ${text}`),
    extended: [],
    condition: {},
    ...more,
  }
}

/** What is kept of the source of a card that was fetched just now. */
export const fetched = (text: string, more: Partial<SourceRecord> = {}): SourceRecord => ({
  source,
  card: JSON.stringify({ name: text }),
  validators: { etag: `"${text}"` },
  checked: Date.now(),
  by: 'manifest',
  ...more,
})

/** What failed, by what a client is told. */
export const failure = (status: SourceFailure['status'] = 502, message = 'No.'): SourceFailure => ({
  status,
  code: 'unreachable',
  message,
})

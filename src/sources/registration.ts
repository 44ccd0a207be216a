import { missingCardProfile } from '../card/call-profile.ts'
import { hostOrigin } from '../card/compile/canonical-card.ts'
import type { Compiled } from '../card/compile/index.ts'
import type { Manifest } from '../card/manifest/manifest.ts'
import type { Precondition } from '../http/conditional.ts'
import { strongEtag } from '../http/etag.ts'
import type { Json } from '../json/json.ts'
import { prepareRegistration } from '../registry/prepare.ts'
import type { Registration } from '../registry/records.ts'
import type { SourceRecord } from '../registry/source-record.ts'

/** An agent whose card comes from a source, as it is to be registered. */
type Settling = {
  id: string
  document: Json
  manifest: Manifest
  /** As the compiler takes them: `PUBLIC_URL`, and where the registration was sent to. */
  origins: { publicUrl?: string | undefined; requestOrigin: string }
  record: SourceRecord
  compiled: Compiled | undefined
  condition: Precondition
}

/** Makes ready what is to be registered of an agent whose card comes from a source: without a card, where none was ever had. */
export const sourcedRegistration = async (settling: Settling): Promise<Registration> => {
  const { id, document, compiled, condition, record } = settling
  return {
    ...(compiled ? await prepareRegistration(id, document, compiled, condition) : await uncarded(settling)),
    source: record,
  }
}

const uncarded = async ({ id, document, manifest, origins, condition }: Settling): Promise<Registration> => {
  const text = JSON.stringify(document)
  const { name } = manifest.card
  return {
    id,
    manifest: text,
    manifestEtag: (await represented(text)).etag,
    visibility: manifest.visibility,
    hosts: manifest.hosts,
    origin: hostOrigin(manifest, origins),
    summary: { name: typeof name === 'string' ? name : id, description: '', version: '', url: '' },
    representations: {},
    profile: await represented(JSON.stringify(missingCardProfile(manifest))),
    extended: [],
    condition,
  }
}

const represented = async (text: string) => {
  const bytes = new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
  return { etag: await strongEtag(bytes), bytes }
}

/** The strong entity tag of a representation: the SHA-256 of its bytes, in hexadecimal. */
export const strongEtag = async (bytes: Uint8Array): Promise<string> => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `"${Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('')}"`
}

/** Whether an `If-None-Match` names this entity tag: a list, weak tags and `*` included (RFC 9110 §13.1.2). */
export const matchesIfNoneMatch = (header: string | null, etag: string): boolean => {
  if (header === null) return false
  return header === etag || header.trim() === '*' || entityTags(header).includes(etag)
}

/** The entity tags that a conditional header lists, without their weakness; `*` stands for any. */
const entityTags = (header: string): string[] => header.split(',').map(tag => tag.trim().replace(/^W\//, ''))

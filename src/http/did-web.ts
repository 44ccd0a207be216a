/** Returns the DID of the method `web` for a host, `cards.example.com` or `127.0.0.1:8787`. */
export const toDidWeb = (host: string): string => `did:web:${host.replace(':', '%3A')}`

/** Returns the URL of the document of a DID of the method `web`; undefined for any other text. */
export const didDocumentUrl = (did: string): string | undefined => {
  const [, host = '', path = ''] = /^did:web:([a-zA-Z0-9.-]+(?:%3A\d{1,5})?)((?::[\w.~%-]+)*)$/.exec(did) ?? []
  if (host === '') return undefined
  const folder = path === '' ? '/.well-known' : path.replaceAll(':', '/')
  return `https://${host.replace('%3A', ':')}${folder}/did.json`
}

/** More than any agent requires; what follows is not looked at. */
const most = 200

/** The extensions that a call names, in `A2A-Extensions` (v1.0) and `X-A2A-Extensions` (v0.3): URIs between commas. */
export const parseExtensions = (...headers: readonly (string | null)[]): string[] => {
  const said = headers.filter(header => header !== null)
  const uris = said.flatMap(header => header.split(',', most)).map(uri => uri.trim())
  return [...new Set(uris)].filter(uri => uri !== '')
}

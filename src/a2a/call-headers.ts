import { parseExtensions } from './extensions.ts'

/** The versions that a URL names, whatever the case of the name. */
export const versionsInQuery = (url: string): string[] =>
  url.includes('?')
    ? [...new URL(url).searchParams].flatMap(([name, value]) => (name.toLowerCase() === 'a2a-version' ? [value] : []))
    : []

/** The extensions that a request's headers name. */
export const extensionsOf = (headers: Headers): string[] =>
  parseExtensions(headers.get('A2A-Extensions'), headers.get('X-A2A-Extensions'))

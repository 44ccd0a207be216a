import { dialectNames } from '../card/model/names.ts'
import { majorMinor } from '../card/model/protocol-version.ts'
import type { RepresentationName } from '../card/model/representation-names.ts'
import { HttpError } from '../http/errors.ts'

/** The versions of A2A that have a representation of their own. */
const versions = new Map<string, RepresentationName>([
  ['1.0', '1.0'],
  ['0.3', '0.3'],
])
const dialects = new Map<string, RepresentationName>(dialectNames.map(name => [name, name]))

/** The document that a GET asks for: `?dialect=`, else the A2A version of header or query, else the `usual` one of its path. */
export const negotiateRepresentation = (
  headers: Headers,
  query: Record<string, string | string[] | undefined>,
  usual: RepresentationName,
): RepresentationName => {
  const { dialect } = query
  if (dialect === 'hybrid') return usual === 'agent.json' ? usual : 'agent-card.json'
  if (dialect !== undefined) {
    const chosen = dialects.get(String(dialect))
    if (chosen !== undefined) return chosen
    throw new HttpError(
      400,
      'unknown-dialect',
      `This host has no dialect "${String(dialect).slice(0, 40)}". It writes ${['hybrid', ...dialectNames].join(', ')}.`,
    )
  }
  const version = headers.get('A2A-Version') || query['A2A-Version']
  return typeof version === 'string' ? (versions.get(majorMinor(version)) ?? usual) : usual
}

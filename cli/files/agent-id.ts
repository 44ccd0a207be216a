import { basename, extname } from 'node:path'
import { agentIdPattern, toSlug } from '../../src/card/model/constants.ts'
import type { Json } from '../../src/json/json.ts'

/** The id of the agent that a file describes: what its manifest says, else the file's name. */
export const idOf = (file: string, said: Json | undefined): { id: string } | { message: string } => {
  if (said !== undefined) return typeof said === 'string' ? { id: said } : { message: 'must be a string' }
  const name = basename(file, extname(file))
  if (agentIdPattern.test(name)) return { id: name }
  const better = toSlug(name, 'my-agent')
  return {
    message: `"${name}" cannot be an id (lower-case letters, digits and hyphens): name the file ${better}${extname(file)}, or say \`id: ${better}\` in a manifest`,
  }
}

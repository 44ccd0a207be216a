import { basename } from 'node:path'
import { findCardFiles, isFolder, loadManifests } from '../manifests/index.ts'

/** The folder of the sample cards, which only `npm start` registers. */
const SAMPLES_FOLDER = 'examples/cards'

/** The id of the sample with an A2A agent behind it. */
export const ECHO_ID = 'echo'

/** The id of the sample that is an MCP server. */
export const TOOL_BOX_ID = 'tool-box'

/**
 * The id of a sample with an extended card. The echo agent has none: some clients always request it, without a token.
 */
export const WEATHER_ID = 'weather'

/** The Workers behind samples, by the bindings that those name. `npm start` runs them beside the host. */
export const EXAMPLE_WORKERS = [
  { binding: 'ECHO', service: 'calling-card-example-echo', config: 'examples/echo-agent/wrangler.toml' },
  { binding: 'TOOLS', service: 'calling-card-example-mcp', config: 'examples/mcp-server/wrangler.toml' },
] as const

/**
 * Returns the files of the samples, if there are any. The echo agent is the first, so that it becomes the root agent of
 * an empty host: it answers. It claims no host name, so an agent of the owner that claims "*" takes its place.
 */
export const findSamples = (cwd = process.cwd()): string[] => {
  if (!isFolder(SAMPLES_FOLDER, cwd)) return []
  const files = findCardFiles([SAMPLES_FOLDER], cwd)
  const isEcho = (file: string) => isSampleOf(ECHO_ID, file)
  return [...files.filter(isEcho), ...files.filter(file => !isEcho(file))]
}

/** Whether a file is the sample with an id. */
export const isSampleOf = (id: string, file: string): boolean => basename(file).startsWith(`${id}.`)

/** Returns the samples whose ids none of the owner's files has. A file with several agents is one sample. */
export const withoutOwnIds = (samples: readonly string[], own: readonly string[], cwd = process.cwd()): string[] => {
  // Ids do not depend on the host.
  const idsOf = (files: readonly string[]) => {
    const { drafts, invalid } = loadManifests(files, 'http://localhost', cwd)
    return [...drafts, ...invalid].map(({ id }) => id)
  }
  const taken = new Set(idsOf(own).filter(id => id !== undefined))
  return samples.filter(sample => !idsOf([sample]).some(id => id !== undefined && taken.has(id)))
}

import { globSync } from 'node:fs'

/** The configurations of the example agents that run along with the host, in the folder of the project. */
export const exampleWorkers = (): string[] => globSync('examples/*/wrangler.toml').sort()

import { delimiter, join } from 'node:path'

/** The environment with this project's own commands at the end of its PATH: npm puts them there, but a shell may not. */
export const withLocalTools = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...environment,
  PATH: [environment.PATH, join(process.cwd(), 'node_modules', '.bin')].filter(Boolean).join(delimiter),
})

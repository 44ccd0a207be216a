import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import * as v from 'valibot'

const Config = v.looseObject({ services: v.optional(v.array(v.looseObject({ service: v.string() })), []) })
const Text = v.optional(v.string())
const Flags = v.object({ env: Text, config: Text, profile: Text, 'env-file': v.optional(v.array(v.string()), []) })

/** The arguments of `wrangler deploy` for each agent of `examples/` that the host has bound: it has to be there before the host. */
export const exampleDeployments = async (args: readonly string[]): Promise<string[][]> => {
  if (!existsSync('examples')) return []
  const { env, config, profile, 'env-file': files } = flagsOf(args)
  // The same account, found in the same way; what else is said is meant for the host.
  const same = [
    ...(args.includes('--dry-run') ? ['--dry-run'] : []),
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...files.flatMap(file => ['--env-file', file]),
  ]
  const services = await boundServices(env, config)
  return [...new Set(services.map(({ service }) => `examples/${service}/wrangler.toml`))]
    .filter(file => existsSync(file))
    .map(file => ['-c', file, ...same])
}

const boundServices = async (env: string | undefined, config: string | undefined): Promise<{ service: string }[]> => {
  // Loaded only here: it takes a second and a half.
  const { unstable_readConfig } = await import('wrangler')
  try {
    return v.parse(Config, unstable_readConfig({ env, config }, { hideWarnings: true })).services
  } catch {
    // What is wrong with it, wrangler tells when it comes to the host.
    return []
  }
}

const flagsOf = (args: readonly string[]) =>
  v.parse(
    Flags,
    parseArgs({
      args: [...args],
      strict: false,
      options: {
        env: { type: 'string', short: 'e' },
        config: { type: 'string', short: 'c' },
        profile: { type: 'string' },
        'env-file': { type: 'string', multiple: true },
      },
    }).values,
  )

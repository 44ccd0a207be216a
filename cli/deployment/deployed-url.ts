import * as v from 'valibot'

const Deployment = v.looseObject({ type: v.literal('deploy'), targets: v.nullish(v.array(v.string()), []) })

/** The address of a deployment, if the output file of `wrangler deploy` tells one. */
export const deployedUrl = (output: string): string | undefined => {
  const deployment = output
    .split('\n')
    .map(line => v.safeParse(Deployment, parsed(line)))
    .findLast(result => result.success)?.output
  return deployment?.targets?.map(addressOf).find(address => address !== undefined)
}

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Targets are told as for people: `https://x.workers.dev`, `cards.example.com (custom domain)`, `example.com/*`, `schedule: …`. */
const addressOf = (target: string): string | undefined => {
  const [, scheme = 'https://', host] =
    /^(https?:\/\/)?((?:[a-z0-9-]+\.)+[a-z0-9-]+(?::\d+)?|127\.0\.0\.1:\d+)(?:\/\*?)?(?: \(.*\))?$/i.exec(target) ?? []
  return host === undefined ? undefined : scheme + host
}

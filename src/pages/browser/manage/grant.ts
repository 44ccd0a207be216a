import type { ResponseOf } from '../../../api/client/index.ts'
import { listWords, quote } from '../../components/index.ts'

type Token = ResponseOf<'GET /tokens/self'>

type Grant = { readonly [Name in 'scopes' | 'agents' | 'tiers']: readonly Token[Name][number][] }

/** Summarizes what a token allows, in a clause. */
export const summarizeGrant = ({ scopes, agents }: Pick<Grant, 'scopes' | 'agents'>): string => {
  if (scopes.includes('admin')) return 'may do everything'
  return `may register and change ${agents.includes('*') ? 'all agents' : listWords(agents.map(quote))}`
}

/** Describes what a token allows, one sentence an item. Code is in backticks. */
export const describeGrant = ({ scopes, agents, tiers }: Grant): string[] => {
  if (scopes.includes('admin'))
    return [
      'It may do everything for all agents: register, change and remove them, read internal ones, accept pending ' +
        'cards, issue and revoke tokens, and read the audit.',
    ]
  const covered = describeAgents(agents)
  const canRead = scopes.includes('read') || scopes.includes('call')
  return [
    scopes.includes('write') &&
      `It may register, change, remove and refresh ${covered}, and read their manifests and history.`,
    canRead
      ? `It may read ${covered}, internal ones too, and ${describeTiers(tiers)}.`
      : 'Without the scope `read`, it cannot see internal agents or read extended cards.',
    scopes.includes('call') && `It may call ${covered}.`,
  ].filter(sentence => sentence !== false)
}

const describeAgents = (agents: readonly string[]): string => {
  if (agents.includes('*')) return 'all agents'
  return agents.some(glob => glob.includes('*'))
    ? `the agents ${listWords(agents.map(quote))} (\`*\` stands for any characters)`
    : `the ${agents.length === 1 ? 'agent' : 'agents'} ${listWords(agents.map(quote))}`
}

const describeTiers = (tiers: readonly string[]): string => {
  if (tiers.includes('*')) return 'their extended cards of every tier'
  if (tiers.length === 0) return 'their extended cards of the base tier'
  return `their extended cards, up to the tiers ${listWords(tiers.map(quote))}`
}

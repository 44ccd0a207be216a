import type { JsonObject } from '../../json/json.ts'
import { formatPointer, type Pointer } from '../../json/pointer.ts'
import { isBridged } from '../manifest/bridged.ts'
import { getAuthored } from './authored.ts'
import { type LintContext, type Rule, rule } from './rule.ts'

/** The places of the flags for streaming and push that are true, and that the author declared; or, with `declared` false, did not. */
const trueFlags = (subject: LintContext, declared: boolean): Pointer[] => {
  const { capabilities } = subject.authored
  const names = typeof capabilities === 'string' ? [capabilities] : capabilities
  const isDeclared = (flag: string): boolean =>
    Array.isArray(names)
      ? names.some(name => String(name).replaceAll('_', '') === flag.toLowerCase() || name === flag)
      : getAuthored(subject, formatPointer('capabilities', flag)).value !== undefined
  return ['streaming', 'pushNotifications']
    .filter(flag => (subject.card.capabilities as JsonObject)[flag] === true && isDeclared(flag) === declared)
    .map(flag => subject.at(formatPointer('capabilities', flag)))
}

/** Tools of an MCP server answer once: nothing behind such a card can stream A2A events or call a webhook. */
const onlyMcp = (subject: LintContext): boolean =>
  !isBehindBridge(subject) &&
  (subject.authored.protocol === 'mcp' ||
    subject.manifest.upstream.mcp !== undefined ||
    subject.card.supportedInterfaces.every(item => item.protocolBinding.toUpperCase() === 'MCP'))

/** This host answers for the tools then, and says itself what it can. */
const isBehindBridge = ({ manifest }: LintContext): boolean => manifest.route === 'gateway' && isBridged(manifest)

/** What the card promises, and whether it can be kept. */
export const capabilities: readonly Rule[] = [
  rule(
    'capability-undeclared',
    'info',
    'leave streaming or pushNotifications undeclared, which are then taken to be true: declare both',
    subject => (!isBehindBridge(subject) && trueFlags(subject, false).length > 0 ? [subject.at('/capabilities')] : []),
  ),
  rule(
    'capability-impossible',
    'warning',
    'cannot be true of an MCP endpoint, nor where `route` is closed: set it to false',
    subject => (subject.manifest.route === 'closed' || onlyMcp(subject) ? trueFlags(subject, true) : []),
  ),
]

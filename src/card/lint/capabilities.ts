import type { JsonObject } from '../json.ts'
import { type Pointer, pointer } from '../pointer.ts'
import { authoredAs } from './authored.ts'
import { type Rule, rule, type Subject } from './rule.ts'

/** The places of the flags for streaming and push that are true, and that the author declared; or, with `declared` false, did not. */
const trueFlags = (subject: Subject, declared: boolean): Pointer[] => {
  const { capabilities } = subject.authored
  const names = typeof capabilities === 'string' ? [capabilities] : capabilities
  const isDeclared = (flag: string): boolean =>
    Array.isArray(names)
      ? names.some(name => String(name).replaceAll('_', '') === flag.toLowerCase() || name === flag)
      : authoredAs(subject, pointer('capabilities', flag)).value !== undefined
  return ['streaming', 'pushNotifications']
    .filter(flag => (subject.card.capabilities as JsonObject)[flag] === true && isDeclared(flag) === declared)
    .map(flag => subject.at(pointer('capabilities', flag)))
}

/** Tools of an MCP server answer once: nothing behind such a card can stream A2A events or call a webhook. */
const onlyMcp = ({ authored, card, manifest }: Subject): boolean =>
  authored.protocol === 'mcp' ||
  manifest.upstream.mcp !== undefined ||
  card.supportedInterfaces.every(item => item.protocolBinding.toUpperCase() === 'MCP')

/** What the card promises, and whether it can be kept. */
export const capabilities: readonly Rule[] = [
  rule(
    'capability-undeclared',
    'info',
    'leave streaming or pushNotifications undeclared, which are then taken to be true: declare both',
    subject => (trueFlags(subject, false).length > 0 ? [subject.at('/capabilities')] : []),
  ),
  rule(
    'capability-impossible',
    'warning',
    'cannot be true of an MCP endpoint, nor where `route` is closed: set it to false',
    subject => (subject.manifest.route === 'closed' || onlyMcp(subject) ? trueFlags(subject, true) : []),
  ),
]

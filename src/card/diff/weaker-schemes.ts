import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { formatPointer } from '../../json/pointer.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { CardError } from '../model/report.ts'
import { wrappersOf } from '../read/security-schemes.ts'

/** What proves more of a caller, and shows less to others, is stronger. What is none of these proves nothing. */
const kinds: readonly { name: string; wrapper: string; strength: number; is?: (scheme: JsonObject) => boolean }[] = [
  { name: 'mutual TLS', wrapper: 'mtlsSecurityScheme', strength: 6 },
  { name: 'OpenID Connect', wrapper: 'openIdConnectSecurityScheme', strength: 5 },
  { name: 'OAuth with a flow that is no longer advised', wrapper: 'oauth2SecurityScheme', strength: 3, is: hasOldFlow },
  { name: 'OAuth', wrapper: 'oauth2SecurityScheme', strength: 5 },
  { name: 'a bearer token', wrapper: 'httpAuthSecurityScheme', strength: 4, is: says('scheme', /^bearer$/i) },
  { name: 'a password or its like', wrapper: 'httpAuthSecurityScheme', strength: 2 },
  { name: 'a key in the URL', wrapper: 'apiKeySecurityScheme', strength: 1, is: says('location', /^query$/) },
  { name: 'a key', wrapper: 'apiKeySecurityScheme', strength: 2 },
]
const unknown = { name: 'a scheme that A2A does not know', strength: 0 }

/** The schemes of a card that are gone, or that ask for weaker credentials than they did. */
export const weakerSchemes = (
  { securitySchemes: before = {} }: AgentCard,
  { securitySchemes: after = {} }: AgentCard,
): CardError[] =>
  Object.entries(before).flatMap(([name, scheme]) => {
    const at = formatPointer('securitySchemes', name)
    const now = Object.hasOwn(after, name) ? after[name] : undefined
    if (now === undefined) return [{ pointer: at, message: 'is gone' }]
    const [had, has] = [kindOf(scheme), kindOf(now)]
    return has.strength < had.strength
      ? [{ pointer: at, message: `is ${has.name}, which is weaker than what it was: ${had.name}` }]
      : []
  })

const kindOf = (scheme: object): { name: string; strength: number } => {
  const members = scheme as JsonObject
  const [wrapper = ''] = wrappersOf(members)
  const inner = members[wrapper]
  return kinds.find(kind => kind.wrapper === wrapper && isJsonObject(inner) && (kind.is?.(inner) ?? true)) ?? unknown
}

function says(member: string, form: RegExp) {
  return (scheme: JsonObject): boolean => form.test(String(scheme[member]))
}

/** Flows that show a token in a URL, or a password to the client. */
function hasOldFlow({ flows }: { flows?: Json }): boolean {
  return isJsonObject(flows) && ['implicit', 'password'].some(flow => flows[flow] !== undefined)
}

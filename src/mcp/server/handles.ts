import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { type Bytes, decryptFor, distinctSubject, encryptFor } from '../../auth/index.ts'
import { HANDLE_SECONDS, MAX_TASK_ID_LENGTH } from '../../limits.ts'
import { getSigningKeys, listKeys } from '../../signing/index.ts'
import type { McpExchange } from './exchange.ts'

/** A task of an agent, for the caller who gets the handle. */
type HandledTask = { agent: string; tool: string; task: string; context?: string | undefined }

/** What a handle contains: its task, and when it was issued, in ms since 1970. */
export type Handle = HandledTask & { issued: number }

const encode = (text: string) => new TextEncoder().encode(text)

const deriveKey = async (secret: string): Promise<Bytes> => {
  const material = await crypto.subtle.importKey('raw', encode(secret), 'HKDF', false, ['deriveBits'])
  const use = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: encode('calling-card mcp handle') }
  return new Uint8Array(await crypto.subtle.deriveBits(use, material, 256))
}

/** Returns keys derived from the signing keys of this host, that of new handles first; none for a host without any. */
const getKeys = async (env: Env): Promise<Bytes[]> => {
  const keys = await getSigningKeys(env)
  return 'misconfigured' in keys ? [] : Promise.all(listKeys(keys).map(({ secret }) => deriveKey(env[secret] ?? '')))
}

type Caller = Pick<McpExchange, 'caller' | 'env'>

/** Returns a handle, encrypted for its caller: for an anonymous one, it is a secret like the id of a task. */
export const issueHandle = async (task: HandledTask, { caller, env }: Caller, issued = Date.now()) => {
  // A client repeats the handle in a header.
  const [key] = task.task.length > MAX_TASK_ID_LENGTH ? [] : await getKeys(env)
  return key && encryptFor(distinctSubject(caller), { ...task, issued }, key)
}

/** Returns what is in a handle. Throws for one that is forged, expired, or another caller's: nobody may learn which. */
export const openHandle = async (text: string, { caller, env }: Caller): Promise<Handle> => {
  for (const key of await getKeys(env)) {
    const handle = await decryptFor<Handle>(distinctSubject(caller), text, key)
    if (handle && Date.now() < handle.issued + HANDLE_SECONDS * 1000) return handle
  }
  throw unknownHandle()
}

/** The error for a handle that is not valid. */
export const unknownHandle = (): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown or expired task. Call the tool again.')

/** Matches the error classes of the SDKs. 0.3.x has one of them under another name. */
const errorClass =
  /^(?:Authenticated)?(\w+(?:NotFound|NotCancelable|NotSupported|Operation|NotConfigured|Required|Response))Error$/

/** Returns the name of the SDK's error that a call throws, or of its cause; else its JSON-RPC code or HTTP status. */
export const errorOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    return `no error: ${JSON.stringify(await call)}`
  } catch (error) {
    return nameOf(error)
  }
}

const nameOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const [, name] = errorClass.exec(error.name) ?? []
  if (name !== undefined) return name.replace('ExtendedCard', 'ExtendedAgentCard')
  if (error.cause !== undefined) return nameOf(error.cause)
  const details: { envelopeCode?: number; statusCode?: number; errorResponse?: { error: { code: number } } } =
    error as never
  const code = details.envelopeCode ?? details.errorResponse?.error.code ?? /\(Code: (-\d+)\)/.exec(error.message)?.[1]
  return code !== undefined ? `code ${code}` : details.statusCode ? `HTTP ${details.statusCode}` : error.message
}

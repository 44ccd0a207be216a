/** The errors that the SDKs have classes for; 0.3.x has one under another name. */
const typed =
  /^(?:Authenticated)?(\w+(?:NotFound|NotCancelable|NotSupported|Operation|NotConfigured|Required|Response))Error$/

/** What a call threw: the name of the SDK's error, or of its cause; else the code that it carries, or the HTTP status. */
export const thrownBy = async (call: Promise<unknown>): Promise<string> => {
  try {
    return `nothing, but answered ${JSON.stringify(await call)}`
  } catch (error) {
    return told(error)
  }
}

const told = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const [, name] = typed.exec(error.name) ?? []
  if (name !== undefined) return name.replace('ExtendedCard', 'ExtendedAgentCard')
  if (error.cause !== undefined) return told(error.cause)
  const facts: { envelopeCode?: number; statusCode?: number; errorResponse?: { error: { code: number } } } =
    error as never
  const code = facts.envelopeCode ?? facts.errorResponse?.error.code ?? /\(Code: (-\d+)\)/.exec(error.message)?.[1]
  return code !== undefined ? `code ${code}` : facts.statusCode ? `HTTP ${facts.statusCode}` : error.message
}

/** Returns a shell command that calls an agent at `url`. `options` are further ones of curl. */
export const curlCall = (
  url: string,
  method: string,
  part: object,
  { configuration, options = '' }: { configuration?: object; options?: string } = {},
): string => {
  const message = { messageId: '1', role: 'ROLE_USER', parts: [part] }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message, configuration } })
  return `curl ${options}${url} -H 'Content-Type: application/json' -d '${body}'`
}

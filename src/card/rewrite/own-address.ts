/** Whether a URL is at this host's address of an agent, or below it. */
export const isSelfUrl = (address: string, agentUrl: string): boolean => {
  const url = URL.parse(address)
  const own = URL.parse(agentUrl)
  return url !== null && own !== null && url.host === own.host && `${url.pathname}/`.startsWith(`${own.pathname}/`)
}

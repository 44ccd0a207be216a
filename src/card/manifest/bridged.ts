/** What of a manifest says so. */
type Bridging = { upstream: { mcp?: string | undefined; url?: string | undefined } }

/** Whether this host answers the calls of an agent itself, by calling the tools of an MCP server. */
export const isBridged = ({ upstream: { mcp, url } }: Bridging): boolean => mcp !== undefined && url === undefined

/** What a card advertises where its manifest does not say: an MCP server has no A2A endpoint but this host's. */
export const defaultRoute = (manifest: Bridging): 'direct' | 'gateway' => (isBridged(manifest) ? 'gateway' : 'direct')

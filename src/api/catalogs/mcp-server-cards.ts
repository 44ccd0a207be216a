import type * as v from 'valibot'
import { type McpHeader, mcpHeaders } from '../../card/index.ts'
import { type AgentCard, agentIdPattern } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { problem, webUrl } from '../../http/index.ts'
import { readProfile } from '../../registry/edge/index.ts'
import { VERSION } from '../../version.ts'
import { agentNotFound, UPSTREAM_PROBLEMS } from '../agent-errors.ts'
import { loadCard } from '../card-endpoints.ts'
import { agentPath, endpoint, json } from '../contract/index.ts'
import { McpServerCard } from '../schemas/index.ts'
import { HOST_SERVER, MCP_SERVER_CARD_TYPE, mcpServerName, toLine } from './entries.ts'

const shared = {
  tag: 'cards',
  validated: true,
  limits: ['CALL_LIMIT'],
  description: 'What MCP clients need to connect: the address, the versions and the headers (SEP-2127).',
  responses: { 200: json('The MCP server card.', McpServerCard, { type: MCP_SERVER_CARD_TYPE }) },
} as const

/** `GET /agents/{id}/mcp/server-card`: an agent as an MCP server. */
export const getMcpServerCard = endpoint(
  {
    ...{ ...shared, summary: 'Get the MCP server card of an agent', access: 'optional', params: agentPath },
    problems: ['agent-not-found', 'not-found', ...UPSTREAM_PROBLEMS],
  },
  async ({ params: { id }, caller, ...context }) => {
    const { env, ctx } = context
    const document = agentIdPattern.test(id) ? await loadCard(id, '1.0', context, { caller }) : null
    if (!document) return agentNotFound(id)
    const profile = await readProfile(id, env, ctx)
    if (!profile?.mcpServer || !config(env).offersMcp)
      return problem('not-found', `Agent "${id}" is not open to MCP clients.`)
    const card = await new Response(document.body).json<AgentCard>()
    return { body: toServerCard(id, profile.mcpServer.url, card, mcpHeaders(card, profile)) }
  },
)

/** `GET /mcp/server-card`: this host as an MCP server. */
export const getHostMcpServerCard = endpoint(
  {
    ...{ ...shared, summary: 'Get the MCP server card of this host', access: 'public' },
    problems: ['not-found'],
  },
  ({ request, env }) => {
    const { offersMcp, publicOrigin } = config(env)
    if (!offersMcp) return problem('not-found', 'This host is not open to MCP clients.')
    const { origin, host } = new URL(publicOrigin ?? request.url)
    const description = 'Finds the A2A agents of this host, shows their cards, and calls them.'
    const token = { name: 'Authorization', placeholder: 'Bearer …', isRequired: false, isSecret: true }
    const card = { name: `Agents of ${host}`, description, version: VERSION }
    return { body: toServerCard(HOST_SERVER, `${origin}/mcp`, card, [token]) }
  },
)

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'
const MAX_LENGTH = 100
const MAX_VERSION_LENGTH = 255

/** The versions of MCP that the servers of this host speak, the newest first. */
const MCP_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18']

type Described = Pick<AgentCard, 'name' | 'description' | 'version' | 'documentationUrl' | 'iconUrl'>

const toServerCard = (
  id: string,
  url: string,
  { name, description, version, documentationUrl, iconUrl }: Described,
  headers: McpHeader[],
): v.InferOutput<typeof McpServerCard> => {
  const title = toLine(name, MAX_LENGTH) || id
  const icon = webUrl(iconUrl)
  return {
    $schema: SCHEMA,
    name: mcpServerName(url, id),
    title,
    description: toLine(description, MAX_LENGTH) || title,
    version: version.slice(0, MAX_VERSION_LENGTH),
    websiteUrl: webUrl(documentationUrl) ?? url.replace(/\/mcp$/, ''),
    ...(icon !== undefined && { icons: [{ src: icon }] }),
    remotes: [
      {
        ...{ type: 'streamable-http', url, supportedProtocolVersions: MCP_VERSIONS },
        ...(headers.length > 0 && { headers }),
      },
    ],
  }
}

/** What editors show for the fields of a manifest, by their paths. `*` is any name or index. */
export const manifestDescriptions: Readonly<Record<string, string>> = {
  $schema: 'The schema by which editors check this file. It is never published.',
  id: 'The id of the agent: lower-case letters, digits and hyphens. By default, the name of the file.',
  card: 'The Agent Card, in any dialect. With `upstream.card` or `upstream.mcp`, it is merged over the card that the host fetches.',
  extended: 'What the card of callers with a token has besides. A merge patch (RFC 7396); skills are merged by `id`.',
  tiers:
    'More extended cards, the lowest first, each a merge patch over the one before. Tokens name the tiers they may read.',
  visibility: 'public: lists name the agent. internal: only callers with a token that has the scope `read` see it.',
  hosts: 'The host names whose well-known card is that of this agent. "*" is every host name that no other agent has.',
  route:
    'Where clients call the agent. direct: at its own address. gateway: at this host, which checks and forwards each call. closed: nowhere. Default: direct, and gateway for an MCP server.',
  upstream: 'Where the agent is, and where its card is fetched from.',
  'upstream.url': 'Where calls go, if not where the card says.',
  'upstream.card': 'Where the host fetches the card of the agent.',
  'upstream.mcp': 'An MCP server whose tools become the skills of the agent.',
  'upstream.service': 'The service binding of the Worker through which the agent is reached, instead of the network.',
  'upstream.secret':
    'The name of the Worker secret that is sent to the agent as a bearer token. Never the secret itself.',
  'upstream.identity': 'header: the host tells the agent who calls, with a signed assertion in each call.',
  'upstream.agentName': 'The name of the agent at a Shaman host, sent as `params.agentName`.',
  'upstream.ttl': 'Seconds for which a fetched card is fresh. Default: 300.',
  'upstream.staleIfError':
    'Seconds for which a fetched card is served after that, while it cannot be fetched. Default: 86400.',
  'upstream.pin':
    'Whether a fetched card that widens access waits until it is accepted. Default: true with `secret` or `service`, else false.',
  'upstream.keys':
    'The keys that may sign the fetched card: public JWKs, the URL of a JWK Set on the origin of `card`, DIDs of the method web, or a list of them. first-use: whatever key signs the first card.',
  'upstream.verify':
    'What happens to a fetched card that none of the keys has signed. require: it is not served. warn: it is only reported. off: nothing is verified. Default: require with `keys`, else off.',
  'upstream.mayShow': 'Host names of the agent that its card may show although calls go through this host.',
  'upstream.session':
    'caller: each caller has a session of its own with the MCP server, and each context of those without a token. shared: all callers share one, and the server cannot ask them anything. Default: caller.',
  'upstream.defaultTool': 'The tool of the MCP server, or the id of its skill, that a message calls which names none.',
  gate: 'How calls are checked. off: not at all. warn: only reported. enforce: refused. Every check is on enforce by default.',
  'gate.capabilities': 'Whether the card declares the capability that a call needs, such as streaming.',
  'gate.modes': 'Whether the agent accepts the media types of a call, and produces one that the caller accepts.',
  'gate.extensions': 'Whether a call names the extensions that the card requires.',
  'gate.version':
    'Whether the agent speaks the A2A version and the binding of a call, and the message has the form of that version.',
  'gate.responses': 'Whether what the agent answers is A2A.',
  'gate.tasks':
    'owner: callers reach only the tasks that they have started. shared: all callers reach all. Default: owner with `upstream.secret` or `upstream.service`, else shared.',
  callers:
    'Who may call the agent through this host. anyone. tokens: callers with a token of this host that has the scope `call`. issuer: also callers with a token of the OpenID Connect issuer for an audience in `jwt`. Default: anyone; where the host adds a secret or service binding to calls, issuer if `jwt` names an audience, else tokens.',
  bridge:
    'Which calls of a gateway are translated for the agent: to another version of A2A, to another binding, or both. off, versions, bindings or all. Default: all.',
  compatibility:
    'A breaking change needs a higher major version, an additive one a higher minor version. off: not checked. warn: reported. enforce: other changes are refused. Default: warn.',
  signatures:
    'The signatures of the author. keep: where they cover the document that is served; the host signs the others. resign: the host signs all. strip: no document has any. Default: keep.',
  jwt: 'Which access tokens of the OpenID Connect issuer that the card names may read the agent if it is internal, or its extended cards.',
  'jwt.audience':
    'The audiences of the tokens, one of which a token must have. Default: the URL of the agent at this host.',
  'jwt.scope': 'The scope that every token must have.',
  'jwt.tiers': 'Which tokens may read a tier, by its name: those with a scope, or with a claim of one value.',
  'jwt.tiers.*.scope': 'The scope that a token must have.',
  'jwt.tiers.*.claim': 'The claim that a token must have.',
  'jwt.tiers.*.equals': 'The value of the claim.',
  set: 'The name of the collection of cards that the agent belongs to. `sync-card --prune` deletes agents of this set only.',
  allowSecrets:
    'JSON Pointers to values in this manifest that look like secrets but are not, such as /card/description.',
}

/** What editors show for the fields of a card. They are those of A2A and GopherHole; every other dialect has some of its own. */
export const cardDescriptions: Readonly<Record<string, string>> = {
  name: 'What the agent is called.',
  description: 'What the agent does, for whom, and what it needs to know. Clients and other agents choose by it.',
  url: 'Where the agent is called.',
  version: 'The version of the agent, such as "1.0.0".',
  protocolVersion: 'The version of A2A that the agent speaks at `url`, such as "0.3.0".',
  preferredTransport: 'The transport at `url`: JSONRPC, HTTP+JSON or GRPC.',
  additionalInterfaces: 'More endpoints of the agent (A2A 0.3).',
  'additionalInterfaces.*.url': 'Where the agent is called: a URL, or host:port for gRPC.',
  'additionalInterfaces.*.transport': 'JSONRPC, HTTP+JSON or GRPC.',
  supportedInterfaces: 'Where the agent is called, the preferred endpoint first (A2A 1.0).',
  'supportedInterfaces.*.url': 'Where the agent is called: a URL, or host:port for gRPC.',
  'supportedInterfaces.*.protocolBinding': 'JSONRPC, HTTP+JSON or GRPC.',
  'supportedInterfaces.*.protocolVersion': 'The version of A2A, such as "1.0".',
  'supportedInterfaces.*.tenant': 'The tenant that calls to this endpoint are for.',
  provider: 'Who runs the agent.',
  'provider.organization': 'The name of the organization.',
  'provider.url': 'The website of the organization.',
  iconUrl: 'The URL of an icon.',
  documentationUrl: 'The URL of the documentation.',
  termsOfServiceUrl: 'The URL of the terms of service.',
  privacyPolicyUrl: 'The URL of the privacy policy.',
  capabilities: 'Optional features of A2A that the agent has.',
  'capabilities.streaming': 'Whether the agent answers with streams.',
  'capabilities.pushNotifications': 'Whether the agent calls clients back.',
  'capabilities.extendedAgentCard': 'Whether callers with a token get another card. `extended` and `tiers` set it.',
  'capabilities.multiTurn': 'Whether the agent continues a conversation (GopherHole).',
  'capabilities.stateTransitionHistory': 'Whether tasks have a history of their states (A2A 0.3).',
  'capabilities.extensions': 'Extensions of A2A that the agent supports.',
  securitySchemes: 'How callers can authenticate, by name, as in OpenAPI.',
  security: 'Which schemes a caller needs: one entry of the list, with all schemes in it.',
  securityRequirements: 'Which schemes a caller needs, as A2A 1.0 writes it.',
  supportsAuthenticatedExtendedCard: 'Whether callers with a token get another card (A2A 0.3).',
  defaultInputModes: 'The media types that the agent accepts, such as text/plain.',
  defaultOutputModes: 'The media types that the agent produces.',
  supportedInputModes: 'The media types that the agent accepts (GopherHole).',
  supportedOutputModes: 'The media types that the agent produces (GopherHole).',
  skills: 'What the agent can do, one entry each.',
  'skills.*.id': 'The id of the skill in kebab-case.',
  'skills.*.name': 'What the skill is called.',
  'skills.*.description': 'What the skill does, what it takes and what it returns.',
  'skills.*.tags': 'Words by which people and catalogs find the skill.',
  'skills.*.examples': 'Prompts that the skill can answer.',
  'skills.*.inputModes': 'The media types that the skill accepts, if they are not those of the agent.',
  'skills.*.outputModes': 'The media types that the skill produces, if they are not those of the agent.',
  'skills.*.security': 'Which schemes a caller needs for this skill.',
  'skills.*.securityRequirements': 'The same, as A2A 1.0 writes it.',
  signatures: 'Signatures of the card (A2A 1.0).',
}

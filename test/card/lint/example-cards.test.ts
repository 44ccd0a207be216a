import { expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { formatIssues, lintCard } from '../../support/cards/compile.ts'

const makeSkill = (id: string, name: string, description: string, fields: JsonObject = {}): JsonObject => ({
  id,
  name,
  description,
  ...fields,
})

const gopherhole = {
  name: 'Research Assistant',
  description: 'AI-powered research assistant that searches the web, analyzes documents, and summarizes findings.',
  url: 'https://research.example.com',
  version: '2.1.0',
  protocolVersion: '1.0',
  provider: { organization: 'Research Labs Inc.', url: 'https://researchlabs.com' },
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true, multiTurn: true },
  supportedInputModes: ['text/plain', 'application/json', 'application/pdf', 'image/png', 'image/jpeg'],
  supportedOutputModes: ['text/plain', 'text/markdown', 'application/json'],
  skills: [
    makeSkill('web-search', 'Web Search', 'Search the web for current information', {
      tags: ['search', 'web', 'research'],
      examples: ['search for latest AI news', 'find papers on quantum computing'],
    }),
    makeSkill('document-analysis', 'Document Analysis', 'Analyze and summarize documents', {
      tags: ['documents', 'analysis', 'pdf'],
      inputModes: ['application/pdf', 'text/plain'],
      outputModes: ['text/markdown', 'application/json'],
      examples: ['summarize this research paper', 'extract key findings from the report'],
    }),
  ],
  documentationUrl: 'https://docs.researchlabs.com/assistant',
  iconUrl: 'https://researchlabs.com/icon.png',
  termsOfServiceUrl: 'https://researchlabs.com/terms',
  privacyPolicyUrl: 'https://researchlabs.com/privacy',
}

const guide = {
  name: 'Code Review Agent',
  description: 'Analyzes code for bugs, security vulnerabilities, and style issues across multiple languages.',
  version: '2.1.0',
  url: 'https://code-review.example.com/a2a',
  provider: {
    organization: 'DevTools Inc.',
    url: 'https://devtools.example.com',
    contactEmail: 'support@devtools.example.com',
  },
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false },
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['text/plain', 'application/json'],
  skills: [
    makeSkill(
      'dependency-audit',
      'Dependency Audit',
      'Scans project dependencies for known vulnerabilities and outdated packages.',
      {
        tags: ['dependencies', 'security', 'audit'],
        examples: ['Audit the dependencies in this package.json', 'Check for vulnerable packages in requirements.txt'],
      },
    ),
  ],
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  security: [{ bearer: [] }],
}

const superx = {
  name: 'exa_search',
  protocol: 'mcp',
  protocolVersion: '2024-11-05',
  url: 'https://mcp.example.com/mcp',
  description: 'Exa MCP Server',
  version: '1.0.0',
  capabilities: { tools: { listChanged: true }, resources: null, prompts: null, sampling: null },
  skills: [makeSkill('get_contents', 'get_contents', 'Get full contents of URLs', { inputSchema: { type: 'object' } })],
}

const shaman = {
  protocolVersion: '0.3.0',
  name: 'CustomerSupport',
  description: 'Handles customer inquiries and support requests',
  version: '1.0.0',
  url: 'https://acme.shaman.ai/a2a/v1',
  preferredTransport: 'JSONRPC',
  capabilities: { streaming: true, pushNotifications: true, stateHistory: true },
  skills: [
    {
      name: 'customer-inquiries',
      description: 'Handle general customer questions and concerns',
      examples: ['What are your business hours?', 'How do I return a product?'],
    },
  ],
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'API key authentication' } },
  provider: { name: 'ACME Corp', url: 'https://acme.com' },
}

const makeExample = (text: string): JsonObject => ({ input: { parts: [{ kind: 'text', text }] } })
const telex = {
  name: 'EtymoAgent',
  description: 'AI-powered etymology agent that returns word origins, historical context, and meaning evolution.',
  url: 'https://agent-domain.com',
  version: '1.0.0',
  provider: { organization: 'rifushigi', url: 'https://agent-domain.com', email: 'support@your-agent-domain.com' },
  documentationUrl: 'https://agent-domain.com/docs',
  capabilities: { streaming: false, pushNotifications: false, stateTransitionHistory: false, contextWindow: 4096 },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  authentication: { required: false, methods: [] },
  skills: [
    makeSkill(
      'etymology-lookup',
      'Etymology Lookup',
      'Given a word or phrase, returns its etymology and meaning evolution.',
      {
        inputModes: ['text/plain'],
        outputModes: ['text/plain'],
        parameters: { word: { type: 'string', description: 'The word to look up', required: true } },
        examples: [makeExample('philosophy'), makeExample('robot')],
      },
    ),
  ],
  supportedProtocols: ['a2a-v1'],
  supportsAuthenticatedExtendedCard: false,
  metadata: { tags: ['etymology'], license: 'MIT' },
}

it('the linter returns few issues with published example cards', () => {
  const [tags, security] = ['tags-undeclared info /skills/0/tags', 'security-undeclared info /securitySchemes']
  const modes = ['modes-undeclared info /defaultInputModes', 'modes-undeclared info /defaultOutputModes']
  const issues = Object.entries({ gopherhole, guide, superx, shaman, telex }).map(([name, card]) => [
    name,
    ...formatIssues(lintCard(card as JsonObject)),
  ])
  expect(issues).toEqual([
    ['gopherhole', security],
    ['guide'],
    ['superx', security, tags, 'few-examples info /skills/0/examples', ...modes],
    ['shaman', tags, ...modes],
    ['telex', tags],
  ])
})

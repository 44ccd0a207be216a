// What one writes by hand in ten lines: a card in a constant, behind itty's AutoRouter and cors().

import { env } from 'cloudflare:workers'
import { AutoRouter, cors } from 'itty-router'

const card = JSON.parse(new TextDecoder().decode(env.BODY))
const { preflight, corsify } = cors()

const router = AutoRouter({ before: [preflight], finally: [corsify] })
router.get('/agents/:id/.well-known/agent-card.json', () => card)

export default { fetch: router.fetch }

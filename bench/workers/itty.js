// A card in a constant, behind itty's AutoRouter and cors(): what one writes by hand in ten lines.

import { env } from 'cloudflare:workers'
import { AutoRouter, cors } from 'itty-router'

const card = JSON.parse(new TextDecoder().decode(env.BODY))
const { preflight, corsify } = cors()

const router = AutoRouter({ before: [preflight], finally: [corsify] })
router.get('/agents/:id/.well-known/agent-card.json', () => card)

export default { fetch: router.fetch }

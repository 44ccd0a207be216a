import { DefaultRequestHandler } from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express, { type Express } from 'express'
import { echoCard } from './card.ts'
import { EchoExecutor } from './executor.ts'
import { RecentTasks } from './recent-tasks.ts'

/** The echo agent as an Express application, with tasks of its own: its card, JSON-RPC and HTTP+JSON, of A2A 1.0 and 0.3. */
export const echoApp = (card = echoCard()): Express => {
  const requestHandler = new DefaultRequestHandler(
    card,
    new RecentTasks(),
    new EchoExecutor(),
    ...([undefined, undefined, undefined, undefined, undefined] as const),
    { validateInputModes: true },
  )
  const options = {
    requestHandler,
    userBuilder: UserBuilder.noAuthentication,
    legacyCompat: { enabled: true },
  }
  return express()
    .disable('x-powered-by')
    .use('/.well-known/agent-card.json', agentCardHandler({ ...options, agentCardProvider: requestHandler }))
    .use('/jsonrpc', jsonRpcHandler(options))
    .use('/rest', restHandler(options))
}

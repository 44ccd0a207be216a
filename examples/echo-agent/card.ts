import { AgentCard } from '@a2a-js/sdk'

/** The agent's own card, at its own address; `cards/echo.yaml` is how the host is told of it. */
export const echoCard = (origin = 'https://echo-agent.internal'): AgentCard =>
  AgentCard.fromJSON({
    name: 'Echo Agent',
    description:
      'Says again what it is told: at once, word by word, or when asked twice. It shows what an A2A call is.',
    version: '1.0.0',
    supportedInterfaces: ['1.0', '0.3'].flatMap(protocolVersion => [
      { url: `${origin}/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion },
      { url: `${origin}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion },
    ]),
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: 'echo',
        name: 'Echo',
        description: 'Answers with the text of the message, as an artifact.',
        tags: ['echo'],
        examples: ['hello'],
      },
      {
        id: 'stream',
        name: 'Stream',
        description: 'Answers word by word: each is an event of its own where the call is a stream.',
        tags: ['echo', 'streaming'],
        examples: ['stream one two three'],
      },
      {
        id: 'ask',
        name: 'Ask',
        description: 'Asks what to say, and says what the next message of the same task says.',
        tags: ['echo', 'input-required'],
        examples: ['ask'],
      },
      {
        id: 'slow',
        name: 'Slow',
        description:
          'Takes half a minute, so that there is time to look at the task, to come back to it or to cancel it.',
        tags: ['echo', 'cancel'],
        examples: ['slow'],
      },
    ],
  })

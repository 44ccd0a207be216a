/** The card of GopherHole's quick example, with the id in its name and URL as agents of their own would differ. */
export const quickCard = (id: string) => ({
  name: `Weather Agent ${id}`,
  description: 'Get current weather and forecasts for any location',
  url: `https://${id}.example.com`,
  version: '1.0.0',
  protocolVersion: '1.0',
  capabilities: { streaming: true, pushNotifications: true, multiTurn: true },
  supportedInputModes: ['text/plain', 'application/json'],
  supportedOutputModes: ['text/plain', 'application/json'],
  skills: [
    {
      id: 'forecast',
      name: 'Weather Forecast',
      description: 'Get weather forecast for a location',
      examples: ['weather in Tokyo', 'forecast for New York tomorrow'],
    },
  ],
})

/** A card of about so many bytes of JSON: as many skills as it takes. */
export const cardOfSize = (bytes: number, version: string) => {
  const skill = (index: number) => ({
    id: `skill-${index}`,
    name: `Skill number ${index}`,
    description: 'Answers one kind of question, and says so at some length. '.repeat(bytes > 50_000 ? 7 : 2).trim(),
    tags: ['weather', 'forecast', `group-${index % 7}`],
    examples: ['What is the weather in Auckland?', 'Will it rain tomorrow?'],
    inputModes: ['text/plain'],
    outputModes: ['text/plain', 'application/json'],
  })
  const card = { ...quickCard('agent-000000'), version, skills: [skill(0)] }
  const each = JSON.stringify(skill(100)).length + 1
  const more = Math.max(0, Math.round((bytes - JSON.stringify(card).length) / each))
  return { ...card, skills: Array.from({ length: more + 1 }, (_, index) => skill(index)) }
}

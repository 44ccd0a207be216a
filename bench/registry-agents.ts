import type { SearchFields, Summary } from '../src/registry/search-fields.ts'
import { zipf } from './stats.ts'

const SYLLABLES = 'ba co di fu ge ha ki lo mu ne po ra si to vu wa xe yo za tri'.split(' ')
const WORDS = 20_000

/** Returns the word with a rank of frequency, the most frequent first. */
export const wordOf = (rank: number): string => {
  let word = ''
  for (let rest = rank + SYLLABLES.length; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    word += SYLLABLES[rest % SYLLABLES.length]
  return word
}

/** Returns the id of the agent with a number. */
export const numberedId = (number: number): string => `agent-${String(number).padStart(7, '0')}`

/** What an agent is found by. */
export type Described = {
  id: string
  summary: Pick<Summary, 'name' | 'description'>
  search: Omit<SearchFields, 'examples' | 'protocolVersions'>
}

/**
 * Returns a function that describes agents as a search meets them: words by Zipf's law, those that all of them have, and a few
 * capabilities and media types. Every call draws other words, in the same order in every run.
 */
export const createDescriber = (): ((number: number) => Described) => {
  const draw = zipf(WORDS, 1)
  const words = (count: number): string => Array.from({ length: count }, () => wordOf(draw())).join(' ')
  return number => {
    const tags = [...new Set(Array.from({ length: 4 }, () => wordOf(draw())))]
    return {
      id: numberedId(number),
      summary: { name: `${words(2)} agent`, description: `An agent that ${words(15)}` },
      search: {
        provider: `${wordOf(draw() >> 3)} inc`,
        skillIds: tags.slice(0, 2),
        skillNames: [words(2), words(2)],
        tags,
        capabilities: number % 3 === 0 ? ['streaming', 'pushNotifications'] : ['streaming'],
        inputModes: ['text/plain', number % 5 === 0 ? 'image/png' : 'application/json'],
        outputModes: ['text/plain'],
        signed: false,
        text: `For every agent: ${words(60)}`,
      },
    }
  }
}

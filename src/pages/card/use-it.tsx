import { mcpSnippets } from '../../card/index.ts'
import { Address, CopyButton, Fold, listWords, quote, Sentence, Source } from '../components/index.ts'
import type { CardFacts } from './card-facts.ts'
import type { ExampleCall } from './example-call.ts'
import { snippetsFor } from './snippets.ts'

/** The ways in which programs use an agent, one of which is shown. */
export const UseIt = ({ facts, call }: { facts: CardFacts; call: ExampleCall }) => {
  const snippets = snippetsFor(facts, call)
  const variables = snippets[0]?.variables ?? []
  const mcp = facts.mcpServer && <McpSettings {...facts} server={facts.mcpServer} />
  const tabs = [
    ...snippets.map(({ name, title, code }) => ({ name, title, content: <Snippet name={name} code={code} /> })),
    ...(mcp ? [{ name: 'mcp', title: 'MCP client', content: mcp }] : []),
    { name: 'url', title: 'Card URL', content: <CardAddress {...facts} /> },
  ]
  return (
    <section id="use" aria-labelledby="use-title">
      <h2 id="use-title">Use it</h2>
      {snippets.length === 1 && <p>There is no example of a call that this agent accepts; this fetches its card.</p>}
      <div class="tabs">
        <fieldset>
          <legend class="visually-hidden">Ways to use the agent</legend>
          {tabs.map(({ name, title }, index) => (
            <label>
              <input type="radio" name="use" class="visually-hidden" checked={index === 0} value={name} />
              {title}
            </label>
          ))}
          <CopyButton of="use" title="Copy what is shown" />
        </fieldset>
        {tabs.map(({ name, content }) => (
          <div class="tab" data-tab={name}>
            {content}
          </div>
        ))}
      </div>
      {variables.length > 0 && (
        <Sentence
          class="muted"
          text={`The code reads your credentials from the environment: ${listWords(variables.map(quote))}.`}
        />
      )}
    </section>
  )
}

const Snippet = ({ name, code }: { name: string; code: string }) => (
  <Source id={`snippet-${name}`} label={name}>
    {code}
  </Source>
)

const McpSettings = ({ id, server }: Pick<CardFacts, 'id'> & { server: NonNullable<CardFacts['mcpServer']> }) => {
  const [command, ...files] = mcpSnippets(id, server)
  return (
    <>
      <p>For AI assistants such as Claude, Cursor and VS Code:</p>
      <Snippet {...command} />
      {server.headers.length > 0 && <p>Replace … by your secret.</p>}
      {files.map(({ name, title, code }) => (
        <Fold title={title}>
          <Snippet name={name} code={code} />
          <CopyButton of={`snippet-${name}`} title={`Copy ${title}`} />
        </Fold>
      ))}
      <p>
        Other clients take the address <Address url={server.url} />.
      </p>
    </>
  )
}

const CardAddress = ({ id, cardUrl }: Pick<CardFacts, 'id' | 'cardUrl'>) => (
  <>
    <p class="code">
      <Address url={cardUrl} />
    </p>
    <p>
      A2A clients find the agent at this address. <a href={`/agents/${id}/.well-known/agent-card.json`}>Open it</a>.
    </p>
  </>
)

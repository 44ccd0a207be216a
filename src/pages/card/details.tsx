import { type AgentCard, type AgentSkill, describeAge, type ReceiptTest } from '../../card/model/index.ts'
import { isJsonObject } from '../../json/index.ts'
import {
  Address,
  type Child,
  Code,
  CopyButton,
  Facts,
  Fold,
  Inline,
  listWords,
  Paragraph,
  Prose,
  plural,
  printable,
  quote,
  Sentence,
  Tags,
  WebLink,
  webUrl,
} from '../components/index.ts'
import { requirementSentence } from './authentication.tsx'
import { visibleJson } from './bound-card.ts'
import type { CardFacts } from './card-facts.ts'

/** What an agent can do, with examples that a click writes into the console. `total` counts skills that do not fit. */
export const Skills = ({ card, total }: { card: AgentCard; total: number }) => (
  <section aria-labelledby="skills">
    <h2 id="skills">
      Skills <span class="muted">({total})</span>
    </h2>
    {total === 0 && <p>The card names no skills.</p>}
    <div class="skills">
      {card.skills.map(skill => (
        <SkillItem skill={skill} schemes={card.securitySchemes} />
      ))}
    </div>
  </section>
)

const SkillItem = ({ skill, schemes }: { skill: AgentSkill; schemes: AgentCard['securitySchemes'] }) => {
  const { id, name, description, tags, examples = [], inputModes, outputModes, securityRequirements = [] } = skill
  return (
    <article class="panel skill">
      <h3 dir="auto">{printable(name)}</h3>
      <Paragraph class="text" text={description} />
      <Tags tags={tags} />
      <ul class="examples" aria-label="Examples">
        {examples.map(example => (
          <li>
            <span class="example" data-skill={id} dir="auto">
              {printable(example)}
            </span>
          </li>
        ))}
      </ul>
      <Facts rows={[['Id', <Code text={id} />], ...modeRows(inputModes, outputModes)]} />
      {securityRequirements.length > 0 && (
        <Sentence text={requirementSentence(securityRequirements, schemes, 'Calls of this skill need')} />
      )}
    </article>
  )
}

const modeRows = (input: readonly string[] = [], output: readonly string[] = []): [label: string, modes: Child][] => [
  ['Accepts', input.length > 0 && <Prose text={input.map(quote).join(' ')} />],
  ['Produces', output.length > 0 && <Prose text={output.map(quote).join(' ')} />],
]

const routeWords = {
  gateway: 'Calls go through this host, which checks them against the card and forwards them.',
  direct: 'Calls go to the agent itself.',
  closed: 'The agent is closed: this host refuses its calls.',
} as const

/** Where an agent is called: each address once, with the protocols that it speaks. */
export const Endpoints = ({ route, interfaces }: Pick<CardFacts, 'route'> & Interfaces) => {
  const endpoints = [...Map.groupBy(interfaces, ({ url, tenant }) => JSON.stringify([url, tenant])).values()]
  return (
    <section aria-labelledby="endpoints">
      <h2 id="endpoints">Endpoints</h2>
      <p>{routeWords[route]}</p>
      <Fold title={plural(endpoints.length, 'endpoint')}>
        <ul class="panels">
          {endpoints.map((each, index) => (
            <Endpoint interfaces={each} index={index} />
          ))}
        </ul>
      </Fold>
    </section>
  )
}

type Interfaces = { interfaces: AgentCard['supportedInterfaces'] }

const Endpoint = ({ interfaces, index }: Interfaces & { index: number }) => {
  const { url = '', tenant } = interfaces[0] ?? {}
  return (
    <li class="panel">
      <Facts
        rows={[
          ...[...Map.groupBy(interfaces, ({ protocolBinding }) => protocolBinding)].map(
            ([binding, each]): [Child, Child] => [
              <Inline text={binding} />,
              `A2A ${listWords(each.map(({ protocolVersion }) => printable(protocolVersion)))}`,
            ],
          ),
          ['Tenant', tenant !== undefined && <Code text={tenant} />],
        ]}
      />
      <p class="copied">
        <Address id={`endpoint-${index}`} url={url} />
        <CopyButton of={`endpoint-${index}`} title={`Copy endpoint ${index + 1}`} />
      </p>
    </li>
  )
}

const capabilityWords = [
  ['streaming', 'Streams its answers as they arise.', 'Answers as a whole, without streaming.'],
  ['pushNotifications', 'Reports on tasks to a webhook of the caller.', 'Sends no push notifications.'],
  ['extendedAgentCard', 'Has an extended card for callers with credentials.', 'Has no extended card.'],
] as const

/** What an agent can do besides its skills. */
export const Capabilities = ({ card }: { card: AgentCard }) => {
  const { capabilities, defaultInputModes, defaultOutputModes } = card
  const extensions = capabilities.extensions ?? []
  return (
    <section aria-labelledby="capabilities">
      <h2 id="capabilities">Capabilities</h2>
      <Checks
        items={capabilityWords.map(([name, yes, no]) => (capabilities[name] === true ? ['yes', yes] : ['no', no]))}
      />
      <Facts rows={modeRows(defaultInputModes, defaultOutputModes)} />
      {extensions.length > 0 && (
        <Fold title={plural(extensions.length, 'extension')} open={extensions.some(({ required }) => required)}>
          <ul class="extensions">
            {extensions.map(({ uri, description = '', required, params }) => (
              <li>
                <WebLink url={uri} /> {required && <span class="badge">required</span>}
                {description !== '' && <Paragraph text={description} />}
                {isJsonObject(params) && Object.keys(params).length > 0 && (
                  <p>
                    <Code text={visibleJson(params)} />
                  </p>
                )}
              </li>
            ))}
          </ul>
        </Fold>
      )}
    </section>
  )
}

/** Who provides an agent, and when its card changed. */
export const About = ({ facts, card }: { facts: CardFacts; card: AgentCard }) => {
  const { id, modified } = facts
  const { version, provider, documentationUrl, iconUrl } = card
  const changed = modified.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  const rows: [label: string, value: Child][] = [
    ['Provider', provider?.organization !== undefined && <Inline text={provider.organization} />],
    ['Website', provider?.url !== undefined && <WebLink url={provider.url} />],
    ['Version', <Inline text={version} />],
    ['Documentation', documentationUrl !== undefined && <WebLink url={documentationUrl} />],
    ['Icon', iconUrl !== undefined && webUrl(iconUrl) !== undefined && <WebLink url={iconUrl} />],
    ['Changed', <time datetime={modified.toISOString()}>{changed} UTC</time>],
    ['Id', <Code text={id} />],
  ]
  return (
    <section aria-labelledby="about">
      <h2 id="about">About</h2>
      <Facts rows={rows} />
      <p>
        <a href={`/manage#agents/${id}`}>Manage this agent</a>
      </p>
    </section>
  )
}

/** What the newest check of an agent has shown: a line that can be opened. Nothing for one that was never checked. */
export const Tests = ({ id, check }: Pick<CardFacts, 'id' | 'check'>) => {
  if (!check) return null
  const { receipt, signature, current, now } = check
  const { passed, failed, skipped } = receipt.summary
  const title = [
    'This host tested the agent ',
    <time datetime={receipt.checked}>{describeAge(receipt.checked, now)}</time>,
    `: ${passed} passed, ${failed} failed, ${skipped} skipped.`,
    !current && ' The card has changed since.',
  ]
  return (
    <Fold class="line" title={title}>
      <div id="tests">
        <Checks items={[...Map.groupBy(receipt.tests, ({ title }) => title)].map(testResult)} />
        <p>
          {signature === undefined ? 'The receipt is not signed.' : 'The receipt has a signature of this host.'}{' '}
          <a href={`/agents/${id}/receipt`}>Open the receipt</a>
        </p>
      </div>
    </Fold>
  )
}

/** Returns the result of all tests with a title, with the reason of the first that failed. */
const testResult = ([title, tests]: [title: string, tests: readonly ReceiptTest[]]): Check => {
  const failed = tests.filter(({ result }) => result === 'failed')
  if (failed.length > 0) return ['failed', `${title}: ${failed.length} of ${tests.length} failed. ${failed[0]?.reason}`]
  return tests.some(({ result }) => result === 'passed') ? ['yes', title] : ['no', `${title} (skipped)`]
}

type Check = [mark: 'yes' | 'no' | 'failed', text: string]

/** What is so, with a mark before each. */
export const Checks = ({ items }: { items: readonly Check[] }) => (
  <ul class="checks">
    {items.map(([mark, text]) => (
      <li class={mark}>{text}</li>
    ))}
  </ul>
)

/** A task as a test looks at it, whatever version it was told in. */
export type TaskFacts = { id: string; state: string; said: string; history: number }

/** What a call may carry besides its text. */
export type Extras = {
  /** Continues a task. */
  task?: string
  acceptedOutputModes?: string[]
  /** Answers before the task is done. */
  atOnce?: boolean
  /** Sends a picture beside the text. */
  picture?: boolean
  /** Wants to be notified. */
  push?: boolean
}

/** One client of an SDK, connected to one agent; refusals are thrown as the SDK throws them. */
export type Session = {
  /** The card as the client has it: where it calls, and which version it speaks there. */
  card: { name: string; endpoints: string[]; skills: string[] }
  send: (text: string, extras?: Extras) => Promise<TaskFacts>
  /** The states and the pieces of text of a stream, as they come. */
  stream: (text: string, extras?: Extras) => AsyncGenerator<string>
  get: (task: string, historyLength?: number) => Promise<TaskFacts>
  cancel: (task: string) => Promise<TaskFacts>
  resubscribe: (task: string) => AsyncGenerator<string>
  removePushConfig: (task: string) => Promise<void>
  /** The ids of the skills of the extended card. */
  extendedSkills: () => Promise<string[]>
  /** The ids of the tasks that changed last; v1.0 alone has a list. */
  list?: () => Promise<string[]>
}

/** How a client is set up. */
export type Setup = {
  token?: string
  extensions?: string[]
  /** What the client believes of the agent beside its card, as one does that read an older card. */
  believes?: { streaming?: boolean; extendedAgentCard?: boolean }
}

/** An SDK with a binding and the version that it speaks. */
export type Sdk = {
  title: string
  version: '0.3' | '1.0'
  binding: 'JSONRPC' | 'HTTP+JSON'
  /** Whether it speaks 0.3 only to agents that speak nothing else. */
  compatible?: true
  connect: (baseUrl: string, setup?: Setup) => Promise<Session>
}

/** Returns a `fetch` for an SDK that adds a bearer token, if there is one. */
export const fetchWith = (token: string | undefined): typeof fetch =>
  token === undefined
    ? fetch
    : (input, init) => {
        const headers = new Headers(init?.headers)
        headers.set('Authorization', `Bearer ${token}`)
        return fetch(input, { ...init, headers })
      }

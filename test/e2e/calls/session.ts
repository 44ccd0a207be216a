/** A task in the form that tests compare, whatever the version of A2A. `text` joins the texts of its artifacts. */
export type TaskSummary = { id: string; state: string; text: string; historyLength: number }

/** Options of a message besides its text. */
export type MessageOptions = {
  /** The id of the task that the message continues. */
  task?: string
  acceptedOutputModes?: string[]
  /** Returns before the task ends. */
  returnImmediately?: boolean
}

/** A client of an SDK that is connected to one agent. Its methods throw the errors of the SDK. */
export type Session = {
  /** The card as the client parsed it; an endpoint is its binding, version and URL. */
  card: { name: string; endpoints: string[]; skills: string[] }
  send: (text: string, extras?: MessageOptions) => Promise<TaskSummary>
  /** Yields the states and the texts of a stream. */
  stream: (text: string, extras?: MessageOptions) => AsyncGenerator<string>
  get: (task: string, historyLength?: number) => Promise<TaskSummary>
  cancel: (task: string) => Promise<TaskSummary>
  resubscribe: (task: string) => AsyncGenerator<string>
  removePushConfig: (task: string) => Promise<void>
  /** Returns the ids of the skills of the extended card. */
  extendedSkills: () => Promise<string[]>
  /** Returns the ids of the tasks that changed last. Only A2A 1.0 has this operation. */
  list?: () => Promise<string[]>
}

/** Options of a client. */
export type ConnectOptions = { token?: string }

/** An SDK with a binding and the version of A2A that it speaks. */
export type Sdk = {
  title: string
  version: '0.3' | '1.0'
  binding: 'JSONRPC' | 'HTTP+JSON'
  /** Whether this is a client of 1.0 that speaks 0.3 to agents which speak nothing else. */
  legacyCompat?: true
  connect: (baseUrl: string, setup?: ConnectOptions) => Promise<Session>
}

/** Returns a `fetch` that adds a bearer token, if there is one. */
export const fetchWith = (token: string | undefined): typeof fetch =>
  token === undefined
    ? fetch
    : (input, init) => {
        const headers = new Headers(init?.headers)
        headers.set('Authorization', `Bearer ${token}`)
        return fetch(input, { ...init, headers })
      }

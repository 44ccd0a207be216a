/** What a token lets its bearer do: `admin` everything, `write` change agents, `read` see what is not public and call it. */
export const scopes = ['read', 'write', 'admin'] as const
export type Scope = (typeof scopes)[number]

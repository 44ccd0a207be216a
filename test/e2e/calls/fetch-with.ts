/** A fetch for an SDK that sends a bearer token along, if there is one. */
export const fetchWith = (token: string | undefined): typeof fetch =>
  token === undefined
    ? fetch
    : (input, init) => {
        const headers = new Headers(init?.headers)
        headers.set('Authorization', `Bearer ${token}`)
        return fetch(input, { ...init, headers })
      }

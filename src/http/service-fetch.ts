/**
 * Makes a request of a Worker that is bound to this one: no network is between them, so there is nothing to guard. Follows no
 * redirect, and does not believe the answer's length: HTTP holds an answer to what it announces, between Workers nothing does.
 */
export const fetchService = async (
  service: Pick<Fetcher, 'fetch'>,
  url: string,
  init: RequestInit,
): Promise<Response> => {
  const answer = await service.fetch(url, { ...init, redirect: 'manual' })
  const copy = new Response(answer.body, answer)
  copy.headers.delete('Content-Length')
  return copy
}

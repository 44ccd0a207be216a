import { HostError } from '../failure.ts'

/** More pages than any list has. */
const MAX_PAGES = 100_000

/**
 * Yields the pages of a list. `read` returns the one that begins at a cursor; the last one has no cursor. Throws a
 * HostError for a list without end: a proxy may ignore the cursor or serve stored pages, so that a page comes again,
 * immediately or later.
 */
export async function* paginate<Page extends object>(
  read: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page> {
  const cursors = new Set<string>()
  for (let cursor: string | undefined; ; ) {
    const page = await read(cursor)
    yield page
    if (!('cursor' in page) || typeof page.cursor !== 'string') return
    cursor = page.cursor
    if (cursors.has(cursor)) throw new HostError('the host returns the same page of a list again')
    if (cursors.add(cursor).size === MAX_PAGES) throw new HostError('the host returns a list without end')
  }
}

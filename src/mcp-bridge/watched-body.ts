/** What is done with a body as it comes; `end` once, however it ends. `chunk` may throw: then nothing more of it is read. */
export type Seen = { chunk: (chunk: Uint8Array) => Promise<void> | void; end: () => void }

/** A body that is seen as it is read; no more of it is read than somebody wants. */
export const watchedBody = (body: ReadableStream<Uint8Array>, seen: Seen): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  const { chunk } = seen
  let ended = false
  // A body that is cancelled while a read is pending ends by both.
  const end = (): void => {
    if (!ended) seen.end()
    ended = true
  }
  return new ReadableStream({
    pull: async controller => {
      try {
        const { done, value } = await reader.read()
        if (!done) {
          await chunk(value)
          return controller.enqueue(value)
        }
        end()
        controller.close()
      } catch (error) {
        end()
        controller.error(error)
        reader.cancel(error).catch(() => undefined)
      }
    },
    cancel: reason => {
      end()
      return reader.cancel(reason)
    },
  })
}

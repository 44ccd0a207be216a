/**
 * Work that is to be done on news, however many come at once: at once, and then at most once in so many ms. Where it was not
 * `done`, it is done again.
 */
export const throttle = (work: () => Promise<'done' | 'again'>, between: number): (() => Promise<void>) => {
  let wanted = false
  let running: Promise<void> | undefined
  const run = async (): Promise<void> => {
    while (wanted) {
      wanted = false
      if ((await work()) === 'again') wanted = true
      await new Promise(resolve => setTimeout(resolve, between))
    }
    running = undefined
  }
  return () => {
    wanted = true
    running ??= run()
    return running
  }
}

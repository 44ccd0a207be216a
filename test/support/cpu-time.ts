/** The growth that linear work stays below on any machine, and quadratic work does not. */
export const linear = 40

const rounds = 5

/** Returns whether one of several runs takes less than so many ms: the others may have met a collection of garbage. */
export const isFasterThan = (limit: number, run: () => unknown): boolean =>
  Array.from({ length: rounds }).some(() => measure(run) < limit)

/** Returns the CPU time that `run` takes, in ms: the least of several runs, as the others may have met a collection of garbage. */
export const cpuTime = (run: () => unknown): number =>
  Math.min(...Array.from({ length: 2 * rounds }, () => measure(run)))

/**
 * Returns how many times longer `run` takes for ten times the size: about 10 where the time is linear, 100 where it is
 * quadratic. Work that takes less than 10 ms even then is too short to measure, and returns 1.
 */
export const growth = (size: number, run: (size: number) => unknown): number => {
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < rounds; round++) {
    large = Math.min(
      large,
      measure(() => run(10 * size)),
    )
    if (large < 10) return 1
    small = Math.min(
      small,
      measure(() => run(size)),
    )
    if (large / small < linear) break
  }
  return large / small
}

/** Returns the CPU time that `run` takes, in ms; other processes of the machine do not count. */
const measure = (run: () => unknown): number => {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** The growth for twice the size that linear work stays below on any machine. Quadratic work grows fourfold. */
export const doubled = 3

/**
 * Returns how many times longer `run` takes for twice the size: about 2 where the time is linear, 4 where it is quadratic. Work
 * that takes less than `negligible` ms for twice the size is not measured again, and returns 1.
 */
export const growthWhenDoubled = async (
  size: number,
  negligible: number,
  run: (size: number) => unknown,
): Promise<number> => {
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < 3 * rounds; round++) {
    large = Math.min(large, await measureAsync(() => run(2 * size)))
    if (large < negligible) return 1
    small = Math.min(small, await measureAsync(() => run(size)))
    if (large / small < doubled) break
  }
  return large / small
}

/** Returns the CPU time of asynchronous work, in ms. */
const measureAsync = async (run: () => unknown): Promise<number> => {
  const start = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

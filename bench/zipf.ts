import { seededRandom } from './random.ts'

/** Draws ranks 0 … n-1 by Zipf's law with exponent 1: rank r is asked for in proportion to 1 / (r + 1). */
export const zipf = (n: number, seed: number): (() => number) => {
  const random = seededRandom(seed)
  const cumulative = new Float64Array(n)
  let sum = 0
  for (let rank = 0; rank < n; rank++) {
    sum += 1 / (rank + 1)
    cumulative[rank] = sum
  }
  return () => {
    const drawn = random() * sum
    let low = 0
    let high = n - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle] ?? 0) < drawn) low = middle + 1
      else high = middle
    }
    return low
  }
}

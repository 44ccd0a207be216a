import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until a new deployment answers as this host: a new address takes a while to be known. False where `patience` ms pass. */
export const untilLive = async (url: string, patience: number): Promise<boolean> => {
  for (const deadline = Date.now() + patience; Date.now() < deadline; await sleep(1000))
    if (await isLive(url)) return true
  return false
}

const isLive = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(`${url}/agents?limit=1`, { signal: AbortSignal.timeout(10_000) })
    await response.body?.cancel()
    return response.status === 200
  } catch {
    return false
  }
}

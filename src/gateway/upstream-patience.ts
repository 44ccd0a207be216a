/**
 * What a promise brings within so many seconds; undefined where it takes longer. What is waited for is not aborted: a Worker's
 * requests to others end with the one that they were made for, and to be able to abort them sooner would slow every call.
 */
export const withTimeout = <Value>(promise: Promise<Value>, seconds: number): Promise<Value | undefined> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), seconds * 1000)
    promise.then(resolve, reject).then(() => clearTimeout(timer))
  })

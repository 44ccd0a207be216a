/** Stands in for the runtime's stream of this name: a write completes when its bytes have been read. */
class IdentityStream extends TransformStream<Uint8Array, Uint8Array> {
  constructor() {
    super({ transform: (chunk, controller) => controller.enqueue(chunk.slice()) }, { highWaterMark: 0 })
  }
}

Object.assign(globalThis, { IdentityTransformStream: IdentityStream })

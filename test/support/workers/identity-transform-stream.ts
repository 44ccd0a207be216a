/** The runtime's stream that hands bytes from its writer to its reader: it is done with what is written when the write is. */
class StandIn extends TransformStream<Uint8Array, Uint8Array> {
  constructor() {
    super({ transform: (chunk, controller) => controller.enqueue(chunk.slice()) }, { highWaterMark: 0 })
  }
}

Object.assign(globalThis, { IdentityTransformStream: StandIn })

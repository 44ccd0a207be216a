import { isObject, type Json, type JsonObject, sameJson } from '../../json/json.ts'
import { type Pointer, pointer } from '../../json/pointer.ts'
import type { Reading } from './provenance.ts'

/** The interfaces that the endpoint fields of a card say together, in the order of preference. */
export class GatheredInterfaces {
  readonly list: Json[] = []
  readonly #reading: Reading

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** Adds an interface of the list of v1.0, which may say the same address for several tenants. */
  addListed(item: Json, authored: Pointer): void {
    const at = pointer('supportedInterfaces', this.list.length)
    for (const name of ['/protocolBinding', '/protocolVersion', '']) this.#reading.moved(at + name, authored + name)
    this.list.push(item)
  }

  /** Adds what the top of a v0.x card says, unless the list says it. */
  addTop(url: Json, protocolBinding: Json, protocolVersion: Json): void {
    const at = pointer('supportedInterfaces', this.list.length)
    this.#reading.made(at, '/url')
    this.#reading.moved(`${at}/protocolBinding`, '/preferredTransport')
    this.#reading.moved(`${at}/protocolVersion`, '/protocolVersion')
    this.list.push({ url, protocolBinding, protocolVersion })
  }

  /** Adds an interface of v0.3's list, unless it says one again that is there. */
  addAdditional(item: Json, authored: Pointer): void {
    const there = this.list.filter(
      other =>
        isObject(item) && isObject(other) && other.url === item.url && other.protocolBinding === item.protocolBinding,
    )
    if (!isObject(item) || there.length === 0) this.addListed(item, authored)
    // v0.3 has no place for the version of each.
    else if (
      !there.some(other => sameJson(other, { ...item, protocolVersion: (other as JsonObject).protocolVersion as Json }))
    )
      this.#reading.convert(authored, 'left out: another interface with this address says otherwise, and counts')
  }
}

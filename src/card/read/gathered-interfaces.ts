import { isJsonObject, type Json, type JsonObject, jsonEquals } from '../../json/json.ts'
import { formatPointer, type Pointer } from '../../json/pointer.ts'
import type { Provenance } from './provenance.ts'

/** The interfaces that the endpoint fields of a card say together, in the order of preference. */
export class InterfaceCollector {
  readonly list: Json[] = []
  readonly #reading: Provenance

  constructor(reading: Provenance) {
    this.#reading = reading
  }

  /** Adds an interface of the list of v1.0, which may say the same address for several tenants. */
  addListed(item: Json, authored: Pointer): void {
    const at = formatPointer('supportedInterfaces', this.list.length)
    for (const name of ['/protocolBinding', '/protocolVersion', '']) this.#reading.mapFrom(at + name, authored + name)
    this.list.push(item)
  }

  /** Adds what the top of a v0.x card says, unless the list says it. */
  addTop(url: Json, protocolBinding: Json, protocolVersion: Json): void {
    const at = formatPointer('supportedInterfaces', this.list.length)
    this.#reading.mapWhole(at, '/url')
    this.#reading.mapFrom(`${at}/protocolBinding`, '/preferredTransport')
    this.#reading.mapFrom(`${at}/protocolVersion`, '/protocolVersion')
    this.list.push({ url, protocolBinding, protocolVersion })
  }

  /** Adds an interface of v0.3's list, unless it says one again that is there. */
  addAdditional(item: Json, authored: Pointer): void {
    const there = this.list.filter(
      other =>
        isJsonObject(item) &&
        isJsonObject(other) &&
        other.url === item.url &&
        other.protocolBinding === item.protocolBinding,
    )
    if (!isJsonObject(item) || there.length === 0) this.addListed(item, authored)
    // v0.3 has no place for the version of each.
    else if (
      !there.some(other =>
        jsonEquals(other, { ...item, protocolVersion: (other as JsonObject).protocolVersion as Json }),
      )
    )
      this.#reading.noteConversion(authored, 'left out: another interface with this address says otherwise, and counts')
  }
}

import { isObject, type Json, type JsonObject, without } from './json.ts'
import { type Pointer, pointer } from './pointer.ts'
import type { Reading } from './reading.ts'

/** The interfaces that the endpoint fields of a card say together, each once, in the order of preference. */
export class GatheredInterfaces {
  readonly list: Json[] = []
  readonly #reading: Reading
  readonly #urls = new Set<Json | undefined>()
  readonly #places = new Map<string, number>()
  #said: Set<string> | undefined
  #listed = 0

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** Whether an interface at this address is there. */
  has(url: Json): boolean {
    return this.#urls.has(url)
  }

  /** Adds an interface of the list of v1.0, which may say the same address for several tenants. */
  addListed(item: Json, authored: Pointer): void {
    this.#push(item, authored)
    this.#listed = this.list.length
  }

  /** Adds what the top of a v0.x card says. */
  addTop(url: Json, protocolBinding: Json, protocolVersion: Json): void {
    const at = pointer('supportedInterfaces', this.list.length)
    this.#push({ url, protocolBinding, protocolVersion }, '/url')
    this.#reading.made(at, '/url')
    this.#reading.moved(`${at}/protocolBinding`, '/preferredTransport')
    this.#reading.moved(`${at}/protocolVersion`, '/protocolVersion')
  }

  /** Adds an interface of v0.3's list, which may say one again that is there; what it says besides is kept. */
  addAdditional(item: Json, authored: Pointer): void {
    const index = isObject(item) ? this.#places.get(keyOf(item)) : undefined
    const there = index === undefined ? undefined : this.list[index]
    if (index === undefined || !isObject(item) || !isObject(there)) this.#push(item, authored)
    else if (index >= this.#listed) this.#merge(item, there, index, authored)
    else if (!this.#says(item))
      this.#reading.convert(authored, 'left out: supportedInterfaces says otherwise, and counts')
  }

  /** Whether the list of v1.0 says the same; asked of hybrids only, so that others do not pay for it. */
  #says(item: JsonObject): boolean {
    this.#said ??= new Set(this.list.slice(0, this.#listed).filter(isObject).map(fingerprint))
    return this.#said.has(fingerprint(item))
  }

  #merge(item: JsonObject, there: JsonObject, index: number, authored: Pointer): void {
    for (const name of Object.keys(item).filter(name => !Object.hasOwn(there, name)))
      this.#reading.moved(pointer('supportedInterfaces', index, name), authored + pointer(name))
    this.list[index] = { ...item, ...there }
  }

  #push(item: Json, authored: Pointer): void {
    const at = pointer('supportedInterfaces', this.list.length)
    for (const name of ['/protocolBinding', '/protocolVersion', '']) this.#reading.moved(at + name, authored + name)
    if (isObject(item)) {
      this.#urls.add(item.url)
      if (!this.#places.has(keyOf(item))) this.#places.set(keyOf(item), this.list.length)
    }
    this.list.push(item)
  }
}

const keyOf = ({ protocolBinding, url }: JsonObject): string => JSON.stringify([protocolBinding, url])

/** What an interface says, but for the version, which v0.3 has no place for. */
const fingerprint = (item: JsonObject): string =>
  JSON.stringify(Object.entries(without(item, 'protocolVersion')).sort(([left], [right]) => (left < right ? -1 : 1)))

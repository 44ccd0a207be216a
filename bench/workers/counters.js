// Counts the work that a warm GET must not do. Imported before the host, so that the host cannot keep an unwatched copy.

export const counts = { requests: 0, kv: 0, parses: 0, hashes: 0, registry: 0 }

const watch = (owner, method, name) => {
  const original = owner[method]
  owner[method] = function (...args) {
    counts[name]++
    return original.apply(this, args)
  }
}

watch(JSON, 'parse', 'parses')
for (const body of [Request.prototype, Response.prototype]) watch(body, 'json', 'parses')
watch(SubtleCrypto.prototype, 'digest', 'hashes')
watch(SubtleCrypto.prototype, 'sign', 'hashes')

/** A binding whose every method call is counted. */
export const counted = (binding, name) =>
  new Proxy(binding, {
    get(target, property) {
      const member = target[property]
      if (typeof member !== 'function') return member
      return (...args) => {
        counts[name]++
        return member.apply(target, args)
      }
    },
  })

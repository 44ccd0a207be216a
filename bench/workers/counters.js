// Counts the work that a GET from memory must not do. Imported before the host, so that the host cannot save an uncounted copy.

export const counts = { requests: 0, kv: 0, parses: 0, hashes: 0, registry: 0, owners: 0 }

const count = (owner, method, name) => {
  const original = owner[method]
  owner[method] = function (...args) {
    counts[name]++
    return original.apply(this, args)
  }
}

count(JSON, 'parse', 'parses')
for (const body of [Request.prototype, Response.prototype]) count(body, 'json', 'parses')
count(SubtleCrypto.prototype, 'digest', 'hashes')
count(SubtleCrypto.prototype, 'sign', 'hashes')

/** Returns a binding that counts every method call. */
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

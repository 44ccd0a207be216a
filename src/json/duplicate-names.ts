import { formatPointer, type Pointer } from './json.ts'

/** An object or array around the current position: the names that an object has, and the member or item that is being read. */
type Container = { names: Set<string> | undefined; token: string | number }

/**
 * Returns the first name that an object of a JSON text has already, and its line; undefined if there is none. `JSON.parse` keeps the
 * last of the two values. The text must be valid JSON; the time is linear.
 */
export const findDuplicateName = (text: string): { pointer: Pointer; line: number } | undefined => {
  const containers: Container[] = []
  let isName = false
  for (let index = 0; index < text.length; index++) {
    const container = containers.at(-1)
    switch (text[index]) {
      case '"': {
        const end = endOfString(text, index)
        if (isName && container?.names) {
          const name = parseName(text.slice(index, end + 1))
          container.token = name
          if (container.names.has(name)) {
            const pointer = formatPointer(...containers.map(({ token }) => token))
            return { pointer, line: text.slice(0, index).split('\n').length }
          }
          container.names.add(name)
          isName = false
        }
        index = end
        break
      }
      case '{':
        containers.push({ names: new Set(), token: '' })
        isName = true
        break
      case '[':
        containers.push({ names: undefined, token: 0 })
        isName = false
        break
      case '}':
      case ']':
        containers.pop()
        isName = false
        break
      case ',':
        if (typeof container?.token === 'number') container.token++
        isName = container?.names !== undefined
        break
    }
  }
  return undefined
}

const endOfString = (text: string, start: number): number => {
  let end = start + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return end
}

const parseName = (text: string): string => (text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1))

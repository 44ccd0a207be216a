/** Whether an id is one that a glob names; `*` stands for any characters, and is the only one that is special. Takes linear time. */
export const matchesGlob = (glob: string, id: string): boolean => {
  const [start = '', ...parts] = glob.split('*')
  const end = parts.pop()
  if (end === undefined) return glob === id
  if (!id.startsWith(start)) return false
  let at = start.length
  for (const part of parts) {
    const found = id.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return id.length - end.length >= at && id.endsWith(end)
}

import { test as isMediaTypeName, parse } from 'media-typer'

/** Whether a `Content-Type` says JSON: application/json, or any type whose suffix is +json; parameters do not count. */
export const isJsonType = (header: string | null): boolean => {
  if (header === 'application/json') return true
  const name = essence(header)
  if (name === 'application/json') return true
  if (!isMediaTypeName(name)) return false
  return parse(name).suffix === 'json'
}

/** The type and subtype of a `Content-Type`, in lower case and without parameters; empty where there is none. */
export const essence = (header: string | null): string => header?.split(';', 1)[0]?.trim().toLowerCase() ?? ''

import { SaxesParser } from 'saxes'

/** An element of a picture; `text` is its own, without that of elements in it. */
export type SvgElement = { name: string; attributes: Record<string, string>; text: string }

const NAMESPACE = 'http://www.w3.org/2000/svg'

/** Returns the elements of a picture in their order. Throws if it is not well-formed XML, or has elements of another namespace. */
export const parseSvg = (svg: string): SvgElement[] => {
  const elements: SvgElement[] = []
  const open: SvgElement[] = []
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', ({ name, uri, attributes }) => {
    if (uri !== NAMESPACE) throw new Error(`<${name}> is in the namespace ${uri}`)
    const values = Object.entries(attributes).map(([name, { value }]) => [name, value])
    const element = { name, attributes: Object.fromEntries(values), text: '' }
    elements.push(element)
    open.push(element)
  })
  parser.on('closetag', () => void open.pop())
  parser.on('text', text => {
    const element = open.at(-1)
    if (element) element.text += text
  })
  for (const event of ['processinginstruction', 'doctype', 'comment', 'cdata'] as const)
    parser.on(event, () => {
      throw new Error(`has a ${event}`)
    })
  parser.write(svg).close()
  return elements
}

/** Returns the texts of all elements with a name. */
export const textsOf = (name: string, elements: readonly SvgElement[]): string[] =>
  elements.flatMap(element => (element.name === name ? [element.text] : []))

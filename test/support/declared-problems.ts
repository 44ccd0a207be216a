type Problems = { content?: { 'application/problem+json'?: { schema: { allOf: [unknown, CodeSchema] } } } }
type CodeSchema = { properties: { code: { enum: string[] } } }
/** The part of an OpenAPI document that has the problems. */
export type OpenApiDocument = {
  paths: Record<string, Record<string, { responses: Record<string, { $ref?: string }> }>>
  components: { responses: Record<string, Problems> }
}

/** Throws for a problem that the endpoint does not declare, so that every test of a host checks what the document says. */
export const checkDeclared = async (
  method: string,
  path: string,
  response: Response,
  getDocument: () => Promise<OpenApiDocument>,
): Promise<void> => {
  if (response.headers.get('Content-Type') !== 'application/problem+json' || method === 'HEAD') return
  const { paths, components } = await getDocument()
  const item = paths[path] ?? Object.entries(paths).find(([template]) => toPattern(template).test(path))?.[1]
  const operation = item?.[method.toLowerCase()]
  if (operation === undefined) return
  const declared: (Problems & { $ref?: string }) | undefined = operation.responses[response.status]
  const resolved = declared?.$ref === undefined ? declared : components.responses[declared.$ref.split('/').at(-1) ?? '']
  const codes = resolved?.content?.['application/problem+json']?.schema.allOf[1].properties.code.enum ?? []
  const { code } = (await response.clone().json()) as { code: string }
  if (!codes.includes(code)) throw new Error(`${method} ${path} does not declare the problem ${code}`)
}

const toPattern = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/]+')}$`)

import type { ErrorObject, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { isJsonObject, type Json, type JsonObject } from '../../../src/json/json.ts'
import { essence } from '../../../src/json/media-type.ts'
import { mapMembers } from '../../../src/json/tree.ts'

/** A response of a host, with its body. */
export type Answer = { status: number; headers: Headers; text: string }

type MediaType = { schema: JsonObject; 'x-item-schema'?: JsonObject }
type ResponseObject = { headers?: JsonObject; content?: Record<string, MediaType> }
type OperationObject = {
  operationId: string
  parameters: { name: string; in: string; schema: JsonObject }[]
  requestBody?: { required: boolean; content: Record<string, MediaType> }
  responses: Record<string, ResponseObject | { $ref: string }>
}
type OpenApiDocument = {
  paths: Record<string, Record<string, OperationObject>>
  components: { schemas: Record<string, JsonObject>; responses: Record<string, ResponseObject> }
}

/** Headers that the document must have where a response has them. */
const DOCUMENTED_HEADERS = ['ETag', 'Last-Modified', 'Retry-After', 'WWW-Authenticate', 'Gate-Warning', 'A2A-Version']

/** Schemas that other documents define, which are open for members of their authors. */
const OPEN_SCHEMAS = ['Manifest', 'CardFields', 'AgentCard']

/** An OpenAPI document as a contract: it tells what requests and responses of a host differ from it. */
export class Contract {
  readonly #document: OpenApiDocument
  readonly #ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictRequired: false })
  readonly #validators = new Map<string, ValidateFunction>()
  /** The statuses that were checked, by operation. */
  readonly checked = new Map<string, Set<number>>()

  constructor(document: JsonObject) {
    // The converter of a JSON value to a schema of its own type would copy every member.
    this.#document = document as unknown as OpenApiDocument
    const { schemas, responses } = this.#document.components
    const closed = Object.entries(schemas).map(([name, schema]) => [
      name,
      OPEN_SCHEMAS.includes(name) ? schema : closeObjects(schema),
    ])
    formats.default(this.#ajv)
    this.#ajv.addKeyword('components')
    this.#ajv.addSchema({ $id: 'openapi', components: { schemas: Object.fromEntries(closed), responses } })
  }

  /** Lists all operations, by method and path. */
  get operations(): string[] {
    return Object.entries(this.#document.paths).flatMap(([path, item]) =>
      Object.keys(item).map(method => `${method.toUpperCase()} ${path}`),
    )
  }

  /** Lists the ids of all operations. */
  get operationIds(): string[] {
    return Object.values(this.#document.paths).flatMap(item =>
      Object.values(item).map(({ operationId }) => operationId),
    )
  }

  /** Returns what the body of a request, which succeeded, differs in from the document. */
  findRequestErrors(method: string, path: string, type: string, text: string): string[] {
    const operation = this.#find(method, path)
    const { requestBody } = operation
    if (text === '') return requestBody?.required ? ['the document requires a body'] : []
    if (!requestBody) return ['the document has no body']
    return this.#checkBody(`${operation.operationId} request`, requestBody.content, type, text)
  }

  /** Returns what a response differs in from the document. */
  findResponseErrors(method: string, path: string, { status, headers, text }: Answer): string[] {
    const operation = this.#find(method, path)
    const { operationId } = operation
    const checked = this.checked.get(operationId) ?? new Set()
    this.checked.set(operationId, checked.add(status))
    const response = this.#resolve(operation.responses[status])
    if (!response) return [`${operationId} has no response ${status}`]
    const undocumented = DOCUMENTED_HEADERS.filter(name => headers.has(name) && !(name in (response.headers ?? {})))
    const errors = undocumented.map(name => `${operationId} ${status} has no header ${name}`)
    if (text === '') return response.content && status < 300 ? [...errors, 'the document has a body'] : errors
    const { content } = response
    if (!content) return [...errors, `${operationId} ${status} has no body`]
    return [...errors, ...this.#checkBody(`${operationId} ${status}`, content, headers.get('Content-Type') ?? '', text)]
  }

  /** Lists the parameters in the query that the document has for an operation. */
  queryOf(method: string, path: string): string[] {
    return this.#find(method, path).parameters.flatMap(each => (each.in === 'query' ? [each.name] : []))
  }

  #checkBody(place: string, content: Record<string, MediaType>, type: string, text: string): string[] {
    const media = content[essence(type)]
    if (!media) return [`${place} has no media type ${type}`]
    const { schema, 'x-item-schema': item } = media
    const check = (document: Json | string, name: string, by: JsonObject): string[] =>
      this.#validate(`${place} ${essence(type)} ${name}`, by, document)
    if (item) return sequence(type, text).flatMap(each => check(JSON.parse(each), 'item', item))
    return check(/\bjson/.test(type) ? JSON.parse(text) : text, 'body', schema)
  }

  #validate(place: string, schema: JsonObject, document: Json): string[] {
    const validate =
      this.#validators.get(place) ??
      this.#ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')))
    this.#validators.set(place, validate)
    if (validate(document)) return []
    return (validate.errors ?? []).map(error => `${place}: ${describe(error)}`)
  }

  #resolve(response: OperationObject['responses'][string] | undefined): ResponseObject | undefined {
    if (!response || !('$ref' in response)) return response
    return this.#document.components.responses[response.$ref.replace('#/components/responses/', '')]
  }

  /** The path with the fewest parameters and the longest text matches first. */
  #find(method: string, path: string): OperationObject {
    const [pathname = ''] = path.split('?')
    const found = Object.entries(this.#document.paths)
      .filter(([template, item]) => item[method.toLowerCase()] && toPattern(template).test(pathname))
      .toSorted(([one], [other]) => parametersOf(one) - parametersOf(other) || other.length - one.length)
    const operation = found[0]?.[1][method.toLowerCase()]
    if (!operation) throw new Error(`the document has no ${method} ${pathname}`)
    return operation
  }
}

const toPattern = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/[.+]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/]+')}$`)

const parametersOf = (template: string): number => template.split('{').length

const describe = ({ instancePath, message, params }: ErrorObject): string =>
  `${instancePath} ${message} ${JSON.stringify(params)}`

/** Returns the documents of lines, or the data of server-sent events. */
const sequence = (type: string, text: string): string[] =>
  essence(type) === 'text/event-stream'
    ? [...text.matchAll(/^data: ?(.*)$/gm)].map(([, data = '']) => data)
    : text.split('\n').filter(line => line !== '')

/** Forbids members that a schema does not name, so that a test finds those that are not documented. */
const closeObjects = (schema: JsonObject): JsonObject => {
  const closed = mapMembers(schema, value => {
    if (Array.isArray(value)) return value.map(each => (isJsonObject(each) ? closeObjects(each) : each))
    return isJsonObject(value) ? closeObjects(value) : value
  })
  const isOpen =
    closed.type === 'object' && isJsonObject(closed.properties) && closed.additionalProperties === undefined
  return isOpen ? { ...closed, additionalProperties: false } : closed
}
